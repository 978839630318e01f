const none = /^[\p{Mn}\p{Me}\p{Cf}\u1160-\u11ff]$/u
const wide =
  /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Emoji_Presentation}\u3000-\u303e\uff01-\uff60\uffe0-\uffe6]$/u

/** Columns that a text takes on a terminal: characters of East Asia and emoji take two, marks above others none. */
export function textWidth(text: string): number {
  // oxlint-disable-next-line no-control-regex -- plain texts, which are most, need no look at each character
  if (/^[\u0000-\u02ff]*$/.test(text)) return text.length
  let width = 0
  for (const character of text) width += none.test(character) ? 0 : wide.test(character) ? 2 : 1
  return width
}

/** Breaks a text at spaces into lines of at most so many columns; a longer word has a line of its own. */
export function wrapWords(text: string, columns: number): string[] {
  const lines: string[] = []
  for (const word of text.split(' ')) {
    const line = lines.at(-1)
    if (line === undefined || textWidth(line) + 1 + textWidth(word) > columns) lines.push(word)
    else lines[lines.length - 1] = `${line} ${word}`
  }
  return lines
}

/**
 * Text from elsewhere for one line of a terminal: each character that would move the cursor or change the direction of
 * writing becomes a space, so that columns stay where they are.
 */
export function toPrintable(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu, ' ')
}

const list = new Intl.ListFormat('en-GB')

/** `a`, `a and b`, `a, b and c`. */
export function joinWords(words: Iterable<string>): string {
  return list.format(words)
}

/** Whether both databases can store a text: PostgreSQL has neither NUL nor half of a surrogate pair. */
export function isStorable(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed()
}

/** The text with what cannot be stored left out or replaced. */
export function toStorable(text: string): string {
  return text.replaceAll('\0', '').toWellFormed()
}

/** The first characters of an id or a hash, for people. */
export function shortId(id: string): string {
  return id.slice(0, 8)
}
