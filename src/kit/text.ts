import { stripVTControlCharacters } from 'node:util'

const zeroWidth = /^[\p{Mn}\p{Me}\p{Cf}\u1160-\u11ff]$/u
const doubleWidth =
  /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Emoji_Presentation}\u3000-\u303e\uff01-\uff60\uffe0-\uffe6]$/u

/**
 * Returns the columns that a text occupies on a terminal: East Asian characters and emoji take two, combining marks
 * none. Colours take none.
 */
export function textWidth(text: string): number {
  const shown = text.includes('\u001B') ? stripVTControlCharacters(text) : text
  // oxlint-disable-next-line no-control-regex -- fast path for plain text, which is most common
  if (/^[\u0000-\u02ff]*$/.test(shown)) return shown.length
  let width = 0
  for (const character of shown) width += zeroWidth.test(character) ? 0 : doubleWidth.test(character) ? 2 : 1
  return width
}

/** Breaks a text at spaces into lines of at most `columns` columns. A longer word gets its own line. */
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
 * Makes untrusted text safe for one line of a terminal: replaces each character that would move the cursor or change
 * the writing direction with a space.
 */
export function toPrintable(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu, ' ')
}

const list = new Intl.ListFormat('en-GB')

/** `a`, `a and b`, `a, b and c`. */
export function joinWords(words: Iterable<string>): string {
  return list.format(words)
}

/** Whether both databases can store a text: PostgreSQL rejects NUL and lone surrogates. */
export function isStorable(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed()
}

/** Removes NUL and replaces lone surrogates, so that both databases can store the text. */
export function toStorable(text: string): string {
  return text.replaceAll('\0', '').toWellFormed()
}

/** Returns the first characters of an id or a hash, for display. */
export function shortId(id: string): string {
  return id.slice(0, 8)
}
