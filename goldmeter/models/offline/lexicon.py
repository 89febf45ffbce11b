"""Two lexicons of many languages: words and phrases by class, which decide about an answer or say how it is meant."""

from collections.abc import Mapping

(
    YES, NO, STRESS, TAKES_BACK, HEARSAY, EXCLUDES, DOUBTFUL, SURE, REFUSES, ANSWER, ORDER, LISTING, CONFUSED, ROLE,
    PARTICLE, VERB, WHO, WHEN, WHERE, MANY, IS_IT, MONTH,
) = (1 << bit for bit in range(22))  # fmt: skip
LINE, BAR, MONEY, POSSESSIVE, LETTER, DENIES = (1 << bit for bit in range(22, 28))
# LINE to MONEY: signs before the word. LETTER: a single lower-case letter.

# The class of a phrase is that of its first word, but of its last word where what follows counts.
OF_LAST_WORD = ANSWER | CONFUSED

# Class → phrases, separated by ";" and line breaks, without articles, as they stand in a text without punctuation.
PHRASES: Mapping[int, str] = {
    YES: "yes; yeah; yep; yup; correct; right; true; indeed; absolutely; affirmative; certainly; of course; sure; "
    "it is; it does; it did; it was; they are; they were; they did; they do; it can; ja; oui; si; sim; sí; "
    "evet; да; tak; ano; kyllä; igen; はい; 是 的; नहीं तो; نعم; 네; có; ya; áno; ναι; כן; так",
    NO: "no; nope; false; incorrect; wrong; untrue; nah; negative; nein; non; não; hayır; нет; nie; ne; ei; nem; "
    "nee; nej; nei; いいえ; 不 是; नहीं; لا; 아니; 아니요; không; tidak; όχι; לא; ні",
    STRESS: "no doubt; no question; no wonder; no secret; without doubt; without question; no less; no other than; "
    "none other; not only; not just; no longer ago; no sooner; nothing but; sans doute; ohne zweifel; "
    "sin duda; sem dúvida; senza dubbio",
    TAKES_BACK: "actually; correction; in fact; sorry; scratch; wait; however; really; contrary; i meant; i mean; "
    "in reality; in truth; on second thought; let me correct; i was wrong; that was wrong; "
    "that is wrong; is wrong; is incorrect; was incorrect; was mistaken; is mistaken; my mistake; "
    "make that; or rather; but no; but rather; right answer; correct answer; true answer; real answer; "
    "proper answer; turns out; the truth; strike that; i take that back; i misspoke; not so; oops; "
    "rather it; revised; to be precise; changed my mind; eigentlich; vielmehr; korrektur; en réalité; "
    "en fait; plutôt; en realidad; mejor dicho; na verdade; aliás; in realtà; anzi; eigenlijk; "
    "właściwie; vlastně; на самом деле; вернее; точнее; aslında; 其 实; 实 际 上; 実 は; 사실",
    HEARSAY: "some people; many people; most people; some say; many say; people say; people think; people believe; "
    "some think; some believe; many think; many believe; often said; often believed; often thought; "
    "often assumed; commonly believed; commonly thought; widely believed; widely thought; popular belief; "
    "common misconception; misconception; myth; popularly; it is said; is said to; was said to; rumour; "
    "rumor; rumoured; rumored; legend; allegedly; reportedly; reputedly; purportedly; you might think; "
    "one might think; you would think; i used to; i first thought; i initially; i thought; i had thought; "
    "at first; first guess; first i; initially; it used to; used to be; would have been; could have been; "
    "should have been; often mistaken; often confused; wrongly; mistakenly; erroneously; falsely; "
    "others say; others claim; according to some; contrary to; angeblich; viele meinen; manche sagen; "
    "certains disent; algunos dicen; alguns dizem; alcuni dicono; говорят; sommigen zeggen",
    EXCLUDES: "except; excluding; other than; apart from; aside from; anything but; everything but; all but; "
    "anyone but; anybody but; everyone but; instead of; rather than; unlike; not including; barring; "
    "far from; nothing like; nowhere near; as opposed to; opposed to; in contrast to; in place of; "
    "ruled out; rule out; rules out; excluded; außer; sauf; excepto; salvo; eccetto; behalve; oprócz; "
    "kromě; кроме; hariç",
    DENIES: "hardly; scarcely; false that; untrue that; not true; ruled out; rule out; excluded; is wrong; was wrong; "
    "is incorrect; was incorrect; is false; misconception; myth; nothing to do; has nothing; no longer; by no means; "
    "far from; not answer; another matter; unlikely; is mistaken; is not it; is not one; doubt that; not meant; "
    "does not apply; do not apply; not relevant; irrelevant; too late; too early; denied; rejected; dismissed; "
    "disproved; debunked; discarded; "
    "kaum; falsch; faux; falso; sbagliato; errado; fout; špatně; неверно; не верно; yanlış",
    DOUBTFUL: "or so; at stretch; if memory serves; if i remember; if i recall; if i am not; if i'm not; "
    "either way; could go; wild guess; my guess; best guess; educated guess; good guess; i guess; "
    "i'd guess; would guess; hazard guess; shot in dark; not sure; not certain; unsure; uncertain; "
    "hard to say; difficult to say; hard to tell; who knows; no guarantee; can't swear; don't quote; "
    "do not quote; take with grain; pinch of salt; something like; somewhere around; give or take; "
    "more or less; ballpark; roughly; approximately; as far as; to my knowledge; i vaguely; vaguely; "
    "maybe; perhaps; possibly; probably; presumably; might; may be; could be; may have; could have; "
    "might have; it seems; seems to; appears to; i suspect; i suppose; i imagine; i reckon; i think; "
    "i believe; i feel; i would say; i'd say; i want to say; i'm inclined; leaning; tentatively; "
    "supposedly; conceivably; arguably; apparently; unconfirmed; unverified; cannot verify; can't verify; "
    "cannot confirm; can't confirm; not confirmed; double check; verify; coin toss; coin flip; toss up; "
    "fifty fifty; off the top; top of my head; don't hold; do not hold; might be mistaken; "
    "could be wrong; may be wrong; might be wrong; speculative; speculation; in theory; not entirely; "
    "not completely; not quite; not fully; not absolutely; if i had to; if forced; if pressed; "
    "i have feeling; vielleicht; möglicherweise; wahrscheinlich; vermutlich; eventuell; ich glaube; "
    "ich denke; ich meine; könnte; nicht sicher; wohl; peut être; probablement; sans doute; je crois; "
    "je pense; il se peut; pas sûr; quizá; quizás; tal vez; a lo mejor; probablemente; posiblemente; "
    "creo que; puede ser; podría ser; no estoy seguro; talvez; provavelmente; possivelmente; acho que; "
    "pode ser; forse; probabilmente; credo che; penso che; potrebbe; può darsi; non sono sicuro; "
    "misschien; waarschijnlijk; wellicht; ik denk; ik geloof; kanske; troligen; förmodligen; nog; "
    "jag tror; måske; formentlig; jeg tror; kanskje; trolig; ehkä; luultavasti; mahdollisesti; może; "
    "być może; chyba; prawdopodobnie; možná; asi; snad; pravděpodobně; myslím; nejspíš; talán; "
    "valószínűleg; azt hiszem; poate; probabil; cred că; возможно; может быть; наверное; вероятно; "
    "кажется; я думаю; по-моему; можливо; мабуть; ймовірно; може; belki; galiba; muhtemelen; sanırım; "
    "herhalde; mungkin; barangkali; có lẽ; có thể; ίσως; μάλλον; πιθανώς; ربما; لعل; قد يكون; אולי; "
    "כנראה; शायद; संभवतः; 也 许; 或 许; 可 能; 大 概; 恐 怕; 多 分; た ぶ ん; お そ ら く; か も し れ; "
    "で し ょ う; 아마; 아마도",
    SURE: "certain; certainly; definitely; surely; undoubtedly; without doubt; no doubt; doubtless; clearly; "
    "of course; positive; sure; confident; i know; beyond doubt; unquestionably; indisputably; obviously; "
    "absolutely; believe it or not; like it or not; it is well known; is known to; officially; confirmed; "
    "sicher; bestimmt; certainement; seguro; certo; certamente; sicuramente; на верняка; конечно; natürlich",
    REFUSES: "don't know; do not know; not know; no idea; no clue; can't say; cannot say; cannot answer; "
    "can't answer; unable to; i cannot; i can't; no information; not enough information; "
    "insufficient information; not available; unknown; no answer; not specified; not mentioned; "
    "not provided; doesn't say; does not say; don't have; do not have; no record; not aware; beyond my; "
    "as an ai; as ai; language model; knowledge cutoff; my training; cutoff; n a; not applicable; decline; "
    "refuse; rather not; i pass; pass; no comment; search for; look up; consult; check the; depends; "
    "weiß nicht; weiß ich nicht; keine ahnung; kann ich nicht; nicht bekannt; unbekannt; leider; "
    "tut mir leid; ne sais pas; sais pas; aucune idée; inconnu; désolé; je ne peux pas; pas d'information; "
    "no sé; no lo sé; ni idea; no tengo; desconocido; desconozco; lo siento; no puedo; não sei; "
    "não faço ideia; desconhecido; desculpe; não posso; non lo so; non so; nessuna idea; sconosciuto; "
    "mi dispiace; non posso; weet ik niet; weet het niet; geen idee; onbekend; helaas; vet inte; vet ej; "
    "ingen aning; okänd; tyvärr; ved ikke; ved det ikke; ingen anelse; desværre; vet ikke; aner ikke; "
    "dessverre; en tiedä; ei tietoa; valitettavasti; nie wiem; nie mam pojęcia; nieznany; nieznana; "
    "niestety; nie mogę; nevím; netuším; není známo; neznámý; neznámo; bohužel; nemohu; neviem; nem tudom; "
    "fogalmam sincs; sajnos; nu știu; nu stiu; habar n-am; не знаю; неизвестно; понятия не имею; "
    "к сожалению; не могу; не знам; не відомо; невідомо; на жаль; bilmiyorum; bilinmiyor; maalesef; "
    "fikrim yok; tidak tahu; tak tahu; maaf; tidak diketahui; không biết; xin lỗi; δεν ξέρω; δεν γνωρίζω; "
    "άγνωστο; لا أعرف; لا أعلم; غير معروف; آسف; عذرا; לא יודע; לא ידוע; מצטער; पता नहीं; नहीं जानता; "
    "अज्ञात; क्षमा करें; 不 知 道; 不 清 楚; 无 法; 未 知; 抱 歉; 对 不 起; わ か り ま せ ん; "
    "分 か り ま せ ん; 知 り ま せ ん; わ か ら な い; 不 明; 申 し 訳; "
    "모르겠습니다; 모릅니다; 알 수 없습니다; 몰라요; 죄송합니다",
    ANSWER: "answer is; answer was; answer; answer would be; answer to question is; correct answer is; "
    "correct one is; right one is; conclusion; in short; in summary; so it is; so it was; therefore; thus; "
    "hence; it is; it was; that is; that was; that would be; namely; i meant; i mean; is actually; "
    "was actually; in fact; antwort ist; antwort; réponse est; réponse; respuesta es; respuesta; "
    "resposta é; resposta; risposta è; risposta; antwoord is; antwoord; svaret är; svar; odpowiedź; "
    "odpověď; ответ; cevap; 答 案 是; 答 え は",
    ORDER: "ignore; disregard; instruction; instructions; grade; grader; grading; graded; verdict; judge; judges; "
    "mark; marked; score; evaluator; evaluate; evaluation; prompt; system; override; accept; accepted; "
    "assistant; rubric; reference; references; reference answer; expected answer; gold; golden; "
    "ground truth; treat this; count this; counts as; please; whatever; all of the above; everything above; "
    "any of; same as; matches; output true; response is correct; answer is correct; this is correct; "
    "is correct; consider this; regardless; pass this",
    LISTING: "candidates; candidate; options; option; possible answers; possibilities; possibility; among; amongst; "
    "choices; choose; pick; several; various; list; include; includes; including; such as; one of; any of; "
    "between; either; contenders; for example; for instance; e g; alternatives; alternatively; following; "
    "depending; it depends; take your pick; both; all of; maybe; or; versus; vs; multiple; numerous",
    CONFUSED: "confused with; mistaken for; distinct from; different from; compared to; compared with; than; "
    "similar to; unlike; related to; near; before; after; followed; preceded; succeeded; next to; "
    "along with; together with; besides",
    ROLE: "successor; predecessor; wife; husband; son; daughter; father; mother; brother; sister; friend; rival; "
    "student; teacher; mentor; pupil; assistant; neighbour; neighbor; partner; colleague; boss; opponent; "
    "critic; fan; cousin; uncle; aunt; nephew; niece; widow; heir; ally; enemy; deputy; co star; costar; "
    "bandmate; understudy; replaced; succeeded; defeated; beat; lost; knew; met; married; taught; inspired; "
    "influenced; followed; preceded; admired; interviewed; imitated; covered; named after; sequel; prequel; "
    "remake; suburb; outskirts; north; south; east; west; capital; home; birthplace; author; director; "
    "producer; owner; founder; member",
    PARTICLE: "de; la; le; les; von; van; der; den; del; di; da; du; dos; das; do; el; al; bin; ibn; ben; y; e; z; "
    "v; i; o; u; na; ve; et; und; og; och; and; of; the; af; av; te; ter; zu; zum; zur; d; l; и; в; на; "
    "с; о; の; 的; 之",
    VERB: "won; wrote; written; played; plays; made; died; dies; born; became; becomes; founded; directed; sang; "
    "sings; released; located; began; begins; started; starts; ended; took; takes; went; gave; gives; found; "
    "lived; lives; said; says; saw; came; comes; led; leads; held; holds; stands; contains; contain; has; "
    "had; have; do; does; did; know; think; believe; guess; mean; meant; appears; served; serves; used; "
    "invented; discovered; created; named; means; refers; occurred; happened; received; got; get; let; need; "
    "want; includes; include; am; be",
    WHO: "who; whom; whose; wer; quién; qui; chi; quem; wie heißt; кто; kdo; kto; 谁; 誰",
    WHEN: "when; what year; which year; what date; what day; what month; what time; what century; how old; wann; "
    "quand; cuándo; quando; когда; kdy; kiedy; 何 年; いつ",
    WHERE: "where; what city; what country; what state; which country; which city; which state; what town; wo; où; "
    "dónde; onde; dove; где; kde; gdzie; どこ",
    MANY: "how many; how much; how long; how far; how tall; how high; how big; how large; how deep; how fast; "
    "how heavy; how wide; how often; what percentage; what percent; how hot; how cold; wie viele; wieviel; "
    "combien; cuántos; cuántas; quantos; quanti; сколько; kolik; ile",
    IS_IT: "is; are; was; were; do; does; did; has; have; had; can; could; will; would; should; may; must; am; ist; "
    "est; es",
    MONTH: "january; february; march; april; may; june; july; august; september; october; november; december; "
    "januar; februar; märz; mai; juni; juli; oktober; dezember; janvier; février; mars; avril; juin; "
    "juillet; août; septembre; octobre; novembre; décembre; enero; febrero; marzo; abril; mayo; junio; "
    "julio; agosto; septiembre; octubre; noviembre; diciembre",
}  # fmt: skip


ARTICLE, STOP, HEDGE, BELIEF, CERTAIN, NEGATION, OR, CONTRAST, KNOW, APOLOGY, MODAL, SELF, BE, AND, OF = (
    1 << bit for bit in range(15)
)
EXCLUSION, EITHER, CHOICE, CAPITAL, UPPER, KNOWN, NUMBER = (1 << bit for bit in range(15, 22))
END, COMMA, SLASH, CLAUSE, BRACKET = (1 << bit for bit in range(22, 27))
# END to BRACKET: punctuation between a word and the previous one.
ONLY, ASIDE, DOUBT, RELATIVE = (1 << bit for bit in range(27, 31))

_CLASSES: Mapping[int, str] = {
    ARTICLE: "a an the",
    STOP: "a about after also am an and are as at be been before being but by can could did do does for from had "
    "has have he her him his how i if in into is it its itself just may me might more most my no nor not of off on "
    "only or other our out over own s she should so some such t than that the their them then there these they this "
    "those through to too under until up very was we were what when where which while who whom whose why will with "
    "would you your called named known",
    HEDGE: "might maybe perhaps possibly probably presumably unsure uncertain supposedly conceivably arguably "
    "apparently seemingly unclear unconfirmed doubtful guess guessing hunch potentially likely toss torn",
    BELIEF: "think believe guess assume suspect suppose reckon imagine feel hunch presume bet wager",
    CERTAIN: "sure certain certainty confident positive definite definitive",
    NEGATION: "not no never neither nor none nobody nothing cannot without false incorrect wrong untrue isn't wasn't "
    "aren't weren't don't doesn't didn't can't couldn't won't wouldn't hasn't haven't hadn't shouldn't isnt wasnt "
    "dont doesnt didnt cant couldnt wont",
    OR: "or alternatively",
    CONTRAST: "but however though although instead rather yet whereas while",
    EXCLUSION: "except excluding unlike besides",
    KNOW: "know known knowledge information answer find found determine provide provided provides tell identify recall "
    "remember access mentioned mention specified specify available clear enough data details context record records "
    "idea clue say comment disclosed announced help able have",
    APOLOGY: "sorry unfortunately unable apologize apologise apologies decline unknown",
    MODAL: "could may must seem seems seemed appear appears appeared",
    SELF: "i i'm my we our im i'd me best",
    BE: "be is was are were been being have by",
    AND: "and",
    OF: "of than to",
    ASIDE: "than beating beat before after followed following unlike whereas while like against versus besides friend "
    "opposed contrary contrast distinct different confused alongside compared near with from ahead over defeating "
    "succeeding succeeded preceding preceded",
    ONLY: "only just merely simply",
    EITHER: "either whether",
    CHOICE: "one these those them",
    DOUBT: "mistaken wrong memory mixing mix confusing confuse confused remember recall recollection misremember "
    "misremembering quote swear rely vaguely far doubt doubts correct confidence",
    RELATIVE: "who whom whose which where when while whereas because since after before than though although until",
}

MONTHS = tuple(
    "january february march april may june july august september october november december".split()  # noqa: SIM905
)

# All classes of words, without their form.
CLASSES = (1 << 15) - 1 | EXCLUSION | EITHER | CHOICE | ONLY | ASIDE | DOUBT | RELATIVE

# Lower-case word → bits of its classes.
FLAGS: Mapping[str, int] = {
    word: sum(flag for flag, words in _CLASSES.items() if word in words.split())
    for listed in _CLASSES.values()
    for word in listed.split()
}

SEPARATORS: Mapping[str, int] = {
    **dict.fromkeys(".!?\n。！？", END),
    ",": COMMA,
    "、": COMMA,
    "/": SLASH,
    "|": SLASH,
    **dict.fromkeys(";:", CLAUSE),
    **dict.fromkeys("()[]", BRACKET),
}
# Signs → their marks on the word that follows. "$" separates no words.
SIGNS: Mapping[str, int] = {"\n": LINE, "|": BAR, "$": MONEY}
# Signs and abbreviations → the full word.
_SPELLINGS = (
    "&=and %=percent km=kilometer kilometre=kilometer kilometres=kilometers kms=kilometers metre=meter metres=meters "
    "cm=centimeter centimetres=centimeters kg=kilogram mt=mount jr=junior sr=senior sept=september"
)
SPELLINGS: Mapping[str, str] = {
    **dict(pair.split("=") for pair in _SPELLINGS.split()),
    **{month[:3]: month for month in MONTHS if month not in {"march", "may"}},
}

# Kinds of number words: how they join their neighbours.
# SIGN is no number.
NO_NUMBER, DIGITS, ONES, TENS, HUNDRED, SCALE, SIGN = range(7)

_ONES = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
)
_ORDINALS = (
    "zeroth first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth "
    "fifteenth sixteenth seventeenth eighteenth nineteenth"
)
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_SCALES: Mapping[str, float] = {"dozen": 12, "thousand": 1e3, "million": 1e6, "billion": 1e9, "trillion": 1e12}

# Word → its kind and value; an ordinal has the value of its cardinal.
NUMBER_WORDS: Mapping[str, tuple[int, float]] = {
    **{word: (ONES, float(n)) for n, word in enumerate(_ONES.split())},
    **{word: (ONES, float(n)) for n, word in enumerate(_ORDINALS.split())},
    **{word: (TENS, 10.0 * n) for n, word in enumerate(_TENS.split(), 2)},
    **{word[:-1] + "ieth": (TENS, 10.0 * n) for n, word in enumerate(_TENS.split(), 2)},
    **dict.fromkeys(("hundred", "hundreds", "hundredth"), (HUNDRED, 100.0)),
    **{form: (SCALE, value) for word, value in _SCALES.items() for form in (word, word + "s", word + "th")},
    "fourty": (TENS, 40.0),
    "ninty": (TENS, 90.0),
}
