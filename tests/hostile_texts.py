"""Texts that try to be more than text on a page, in a terminal or in a table: our own, one for each way we know."""

MARK = "window.breached = true"
"""What every script among them does, besides the dialog that it opens."""
RUN = f"{MARK};alert(1)"
WORD = "W" * 1_000_000

TEXTS = [
    # scripts, and the ends of what they might stand in
    f"<script>{RUN}</script>",
    f"</script><script>{RUN}</script>",
    f"<ScRiPt\n>{RUN}</sCrIpT >",
    f"<script src=data:text/javascript,{RUN}></script>",
    f"</style><script>{RUN}</script>",
    f"</title></textarea></noscript></template><script>{RUN}</script>",
    f"<!-- --><script>{RUN}</script><!--",
    "<!--<script>",
    f"<![CDATA[<script>{RUN}</script>]]>",
    f"]]><script>{RUN}</script>",
    f"<scr<script>ipt>{RUN}</scr</script>ipt>",
    f"<script type=module>{RUN}</script>",
    # handlers of events, out of an element, an attribute, a string
    f"<img src=x onerror='{RUN}'>",
    f"<body onload='{RUN}'><details open ontoggle='{RUN}'>",
    f"' onmouseover='{RUN}' x='",
    f'" autofocus tabindex=1 onfocus="{RUN}',
    f'"><video><source onerror="{RUN}"></video>',
    f"`onmouseover={RUN}`",
    f"');{RUN};//",
    f'"}}];{RUN};//',
    # elements that fetch, frame, navigate, submit
    "<iframe src='https://evil.example'></iframe>",
    f"<iframe srcdoc='<script>parent.{MARK}</script>'></iframe>",
    "<link rel=stylesheet href=https://evil.example/a.css>",
    "<meta http-equiv=refresh content='0;url=https://evil.example'>",
    "<base href=https://evil.example/>",
    "<form action=https://evil.example><button>Go</button></form>",
    "<object data=https://evil.example></object><embed src=https://evil.example>",
    f"<a href='javascript:{RUN}'>click</a>",
    f"javascript:{RUN}",
    f"data:text/html,<script>{RUN}</script>",
    # other languages of a page
    f"<svg onload='{RUN}'><script>{RUN}</script></svg>",
    f"<svg><animate onbegin='{RUN}' attributeName=x></svg><svg><use href='https://evil.example#x'/></svg>",
    "<math><maction actiontype=statusline xlink:href=javascript:alert(1)>x</maction></math>",
    "<style>body{display:none}*{background:url(https://evil.example)}</style>",
    "} body { display: none } /*",
    "<div style='position:fixed;inset:0;background:red'>over all</div>",
    f"<template shadowrootmode=open><script>{RUN}</script></template>",
    "<xmp><plaintext>",
    # templates and entities
    "{{ 7 * 7 }}{% for x in y %}{# {{ self.__init__ }}",
    "${7*7} #{7*7} <%= 7*7 %> [[7*7]]",
    "&lt;b&gt; &amp;amp; &#60;script&#62; &#x202e; &nbsp;&NotANentity;",
    "%3Cscript%3E \\u003cscript\\u003e \\x3cscript\\x3e",
    # writing that reorders, hides or piles up
    "\u202egnp.exe\u202c \u2066hidden\u2069 \u200ef\u200f",
    "مرحبا <b>بالعالم</b> שלום",
    "zero\u200bwidth\u200cjoiners\u200d and \u2060 \ufeff \u00ad \u180e \u034f",
    "Z\u0351\u036b\u0343a\u0324\u031c\u0349l\u0300\u0301\u0302g\u0315o" + "\u0330" * 60,
    "👩‍👩‍👧‍👦 🏳️‍🌈 🇪🇺 👍🏽",
    "line\u2028separator paragraph\u2029separator next\x85line",
    "noncharacters \ufffe \uffff \U0001ffff, private \ue000, tags \U000e0041",
    # controls
    "nul \x00 bell \x07 back\x08 vertical\x0b form\x0c delete \x7f",
    "\x1b[31mred\x1b[0m \x1b]0;title\x07 \x1b[2J \x9b1;1H",
    "a return\rover it\r\nand\ttabs\n\n\n",
    # cells that a table program would run
    '=HYPERLINK("https://evil.example","x")',
    "+1+1|cmd' /C calc'!A0",
    "-2+3, @SUM(1+9)",
    "@SUM(A1:A9)\t=1+1",
    '"quoted, ""twice""",\n=1+1',
    # length
    WORD,
    "a very long line " * 20_000,
    "<b>" * 5_000 + "deep",
]
