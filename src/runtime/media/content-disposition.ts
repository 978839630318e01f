const maxNameBytes = 255

/** Control characters, and those that change the direction of text, which could show another extension. */
const invisible = /[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu

/** Returns the last segment of a file's name without characters that are not shown; empty if nothing is left. */
function toFileName(name: string): string {
  const last = name.toWellFormed().split(/[/\\]/).at(-1)!.replaceAll(invisible, '').trim()
  if (last === '.' || last === '..') return ''
  const bytes = Buffer.from(last)
  // Cutting a character in half leaves a replacement character.
  return bytes.length <= maxNameBytes
    ? last
    : bytes
        .subarray(0, maxNameBytes)
        .toString()
        .replace(/\ufffd$/, '')
}

/**
 * Returns the value of `Content-Disposition` (RFC 6266): `filename` for clients that only know ASCII, and `filename*` for
 * all others.
 */
export function writeContentDisposition(kind: 'attachment' | 'inline', name: string | undefined): string {
  const shown = name === undefined ? '' : toFileName(name)
  if (shown === '') return kind
  // A percent sign or a backslash would be decoded by some clients.
  const ascii = shown.replaceAll(/[^\x20-\x7e]|["\\%]/gu, '_')
  const encoded = encodeURIComponent(shown).replaceAll(
    /['()*]/g,
    (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`,
  )
  return `${kind}; filename="${ascii}"; filename*=UTF-8''${encoded}`
}
