/** A quoted cell of a CSV file that no spreadsheet evaluates as a formula. */
function csvCell(text) {
  const escaped = text.replace(/^'*(?:\s*[=+\-@＝＋－＠]|[\t\r\n])/, "'$&");
  return `"${escaped.replace(/"/g, '""')}"`;
}
