/** Names that some systems use instead of the registered ones. */
const aliases: Readonly<Record<string, string>> = {
  'image/jpg': 'image/jpeg',
  'image/pjpeg': 'image/jpeg',
  'image/x-png': 'image/png',
  'application/x-pdf': 'application/pdf',
  'application/x-zip-compressed': 'application/zip',
}

/** Returns the media type that a caller gave to a file, without parameters. */
export function cleanType(given: string): string {
  const type = given.split(';')[0]!.trim().toLowerCase()
  return Object.hasOwn(aliases, type) ? aliases[type]! : type
}

/** How many bytes of a file show its type. */
export const signatureBytes = 12

const bytes = (text: string): Buffer => Buffer.from(text, 'latin1')

const signatures: Readonly<Record<string, (start: Buffer) => boolean>> = {
  'image/png': (start) => beginsWith(start, bytes('\x89PNG\r\n\x1A\n')),
  'image/jpeg': (start) => beginsWith(start, bytes('\xFF\xD8\xFF')),
  'image/gif': (start) => beginsWith(start, bytes('GIF87a')) || beginsWith(start, bytes('GIF89a')),
  'image/webp': (start) => beginsWith(start, bytes('RIFF')) && beginsWith(start.subarray(8), bytes('WEBP')),
  'application/pdf': (start) => beginsWith(start, bytes('%PDF-')),
  // A file, an archive without files, or a part of a divided one.
  'application/zip': (start) => ['PK\x03\x04', 'PK\x05\x06', 'PK\x07\x08'].some((one) => beginsWith(start, bytes(one))),
}

function beginsWith(start: Buffer, signature: Buffer): boolean {
  return start.subarray(0, signature.length).equals(signature)
}

/** Whether the first bytes of a file agree with its type. Of most types, nothing is known. */
export function agreesWithType(type: string, start: Buffer): boolean {
  return !Object.hasOwn(signatures, type) || signatures[type]!(start)
}
