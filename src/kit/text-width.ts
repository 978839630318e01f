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
