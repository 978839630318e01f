/** What stands before an escape: an even number of backslashes. */
const before = String.raw`(?<!\\)(?:\\\\)*`
const high = '[dD][89abAB][0-9a-fA-F]{2}'
const low = '[dD][c-fC-F][0-9a-fA-F]{2}'
const unstorable = new RegExp(
  String.raw`(?<=${before})\\u(?:0000|${high}(?!\\u${low})|(?<!${before}\\u${high}\\u)${low})`,
)

/**
 * Whether a JSON text, which is valid UTF-8, has an escape that databases cannot store: NUL, or half of a surrogate pair.
 * Does not look at the parsed value, whose keys may take as long to list as the text to parse.
 */
export function hasUnstorableEscape(text: string): boolean {
  return text.includes(String.raw`\u`) && unstorable.test(text) // most texts have no escape
}
