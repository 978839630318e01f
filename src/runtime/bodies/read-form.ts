import { isUtf8 } from 'node:buffer'
import { errors } from '../errors.ts'

/** How many fields a form may have. */
const maxFields = 1000

/** Reads the fields of a form as texts: a list for each name that is repeated. */
export function readForm(bytes: Buffer): Record<string, string | string[]> {
  const text = bytes.toString('latin1')
  if (text.split('&', maxFields + 1).length > maxFields) throw errors.WP_RUNTIME_PARTS({ limit: maxFields })
  const fields: Record<string, string | string[]> = {}
  for (const pair of text.split('&')) {
    if (pair === '') continue
    const [name = '', ...rest] = pair.split('=')
    const key = decode(name)
    const value = decode(rest.join('='))
    if (key === '__proto__') throw errors.WP_RUNTIME_REQUEST({ reason: 'The form has the forbidden field __proto__' })
    const known = Object.hasOwn(fields, key) ? fields[key] : undefined
    fields[key] = known === undefined ? value : [known, value].flat()
  }
  return fields
}

/** Decodes a name or a value. Browsers encode all that is not ASCII. */
function decode(text: string): string {
  const spaced = Buffer.from(text.replaceAll('+', ' '), 'latin1')
  const bytes = text.includes('%') ? unescapeBytes(spaced) : spaced
  if (!isUtf8(bytes) || bytes.includes(0))
    throw errors.WP_RUNTIME_REQUEST({ reason: 'The form is not UTF-8, or contains a NUL character' })
  return bytes.toString('utf8')
}

function unescapeBytes(bytes: Buffer): Buffer {
  const text = bytes.toString('latin1')
  if (/%(?![0-9a-f]{2})/i.test(text))
    throw errors.WP_RUNTIME_REQUEST({ reason: 'The form has a "%" without two hexadecimal digits' })
  const plain = text.replaceAll(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
  return Buffer.from(plain, 'latin1')
}
