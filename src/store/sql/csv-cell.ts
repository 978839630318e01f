/** What spreadsheets would run as a formula, some of them also with wide characters. */
const formula = /^'*[=+\-@\t\r\n\uFF0B\uFF0D\uFF1D\uFF20]/
const escaped = /^'+[=+\-@\t\r\n\uFF0B\uFF0D\uFF1D\uFF20]/
const plainNumber = /^[+-]?\d+(\.\d+)?([eE][+-]?\d+)?$/

/**
 * Writes a cell of a CSV file (RFC 4180). Null is empty, and an empty text is in quotes. A text that spreadsheets would run as
 * a formula begins with an apostrophe, unless it is a number.
 */
export function writeCsvCell(text: string | null): string {
  if (text === null) return ''
  const safe = formula.test(text) && !plainNumber.test(text) ? `'${text}` : text
  return safe === '' || /[",;\t\r\n]|^\s|\s$/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

/** Returns the text that `writeCsvCell` wrote, without its apostrophe. */
export function readCsvText(text: string): string {
  return escaped.test(text) ? text.slice(1) : text
}
