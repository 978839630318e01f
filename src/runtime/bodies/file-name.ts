const maxBytes = 255
/** Longer endings are not those of a type. */
const maxEnding = 20

/** Control characters, and those that change the direction of the text around them. */
const hidden = /[\p{Cc}\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/gu

/** Returns the name that a caller gave to a file, without folders and characters that deceive readers. */
export function cleanFileName(given: string): string {
  // Browsers and fetch write a quote as %22.
  const name = given.replaceAll('%22', '"').toWellFormed().split(/[/\\]/).at(-1)!.replace(hidden, '').trim()
  if (name === '' || /^\.+$/.test(name)) return 'file'
  if (Buffer.byteLength(name) <= maxBytes) return name
  const dot = name.lastIndexOf('.')
  const ending = dot > 0 && name.length - dot <= maxEnding ? name.slice(dot) : ''
  return cut(name.slice(0, name.length - ending.length), maxBytes - Buffer.byteLength(ending)) + ending
}

/** Cuts a text after so many bytes of UTF-8, between two characters. */
function cut(text: string, bytes: number): string {
  let kept = ''
  let left = bytes
  for (const character of text) {
    left -= Buffer.byteLength(character)
    if (left < 0) break
    kept += character
  }
  return kept
}
