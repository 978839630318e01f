// APPNOTE.TXT of PKWARE: local headers with the files, the central directory, its end. Files are stored, not compressed.

const table = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = byte
  for (let bit = 0; bit < 8; bit++) value = (value & 1) === 0 ? value >>> 1 : (value >>> 1) ^ 0xedb88320
  return value
})

function checksum(bytes: Uint8Array): number {
  let value = 0xffffffff
  for (const byte of bytes) value = table[(value ^ byte) & 0xff]! ^ (value >>> 8)
  return (value ^ 0xffffffff) >>> 0
}

/** Makes a zip file of texts. */
export function makeZip(files: readonly (readonly [name: string, text: string])[]): Uint8Array<ArrayBuffer> {
  const encoder = new TextEncoder()
  const parts: Uint8Array[] = []
  const directory: Uint8Array[] = []
  let offset = 0
  for (const [name, text] of files) {
    const path = encoder.encode(name)
    const data = encoder.encode(text)
    // Version 2.0, UTF-8 names, stored, 1980-01-01: equal files make equal archives.
    const common = [20, 0x0800, 0, 0, 0x21]
    const sizes = [checksum(data), data.length, data.length]
    parts.push(pack(0x04034b50, common, sizes, [path.length, 0]), path, data)
    directory.push(pack(0x02014b50, [20, ...common], sizes, [path.length, 0, 0, 0, 0], [0, offset]), path)
    offset += 30 + path.length + data.length
  }
  const length = directory.reduce((sum, one) => sum + one.length, 0)
  const end = pack(0x06054b50, [0, 0, files.length, files.length], [length, offset], [0])
  return join([...parts, ...directory, end])
}

/** Groups of 16-bit and 32-bit numbers in turn, after a signature. */
function pack(signature: number, ...groups: readonly (readonly number[])[]): Uint8Array {
  const sizes = groups.map((_, index) => (index % 2 === 0 ? 2 : 4))
  const length = 4 + groups.reduce((sum, group, index) => sum + group.length * sizes[index]!, 0)
  const view = new DataView(new ArrayBuffer(length))
  view.setUint32(0, signature, true)
  let at = 4
  for (const [index, group] of groups.entries()) {
    for (const value of group) {
      if (sizes[index] === 2) view.setUint16(at, value, true)
      else view.setUint32(at, value, true)
      at += sizes[index]!
    }
  }
  return new Uint8Array(view.buffer)
}

function join(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(parts.reduce((sum, one) => sum + one.length, 0))
  let at = 0
  for (const part of parts) {
    all.set(part, at)
    at += part.length
  }
  return all
}
