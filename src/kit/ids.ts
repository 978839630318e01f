import { hash, randomBytes, randomInt, randomUUID } from 'node:crypto'

/** Makes a random UUID (version 4), the format of user, client and family ids. */
export function makeUuid(): string {
  return randomUUID()
}

/** Makes a secret of the given number of random bytes (by default 256 bits), in base64url. */
export function makeSecret(bytes = 32): string {
  return randomBytes(bytes).toString('base64url')
}

const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'

/**
 * Makes a random id that is easy to read aloud, without I, L, O and U: `prefix` and `length` characters of 5 bits each.
 */
export function makeId(prefix: string, length = 16): string {
  if (used + length > pool.length) {
    pool = randomBytes(Math.max(4096, length))
    used = 0
  }
  let id = prefix
  for (const end = used + length; used < end; used++) id += alphabet.charAt(pool[used]! & 31)
  return id
}

/** Unused random bytes: requesting a few costs as much as requesting many. */
let pool = Buffer.alloc(0)
let used = 0

/** Returns the SHA-256 as lower-case hex. */
export function sha256(content: string | Uint8Array): string {
  return hash('sha256', content, 'hex')
}

/** Returns the strong ETag of a content. */
export function etagOf(content: string | Uint8Array): string {
  return `"${sha256(content).slice(0, 32)}"`
}

/** Like `makeId`, but ids made later sort after earlier ones: 10 characters of time and 10 random ones. */
export function makeSortedId(prefix: string, nowMs: number): string {
  return makeId(sortedIdPrefix(prefix, nowMs), 10)
}

/** The time and the rest of the last id of `makeNextId`. */
let last = { time: 0, rest: 0 }

/** Like `makeSortedId`, but each id sorts after all that this process made before, also in the same millisecond. */
export function makeNextId(prefix: string, nowMs: number): string {
  const isLater = nowMs > last.time
  last = isLater
    ? { time: Math.floor(nowMs), rest: randomInt(2 ** 47) }
    : { ...last, rest: last.rest + randomInt(1, 1000) }
  return encode(last.rest, encode(last.time, prefix))
}

/** Returns the prefix of sorted ids made at a time. Earlier ids sort before it, later ones after it. */
export function sortedIdPrefix(prefix: string, nowMs: number): string {
  return encode(Math.floor(nowMs), prefix)
}

function encode(number: number, prefix: string): string {
  let text = ''
  for (let rest = number, place = 0; place < 10; place++, rest = Math.floor(rest / 32)) {
    text = alphabet.charAt(rest % 32) + text
  }
  return prefix + text
}

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** Whether a text has the form of a UUID, so that no database is queried for an id that cannot exist. */
export function isUuid(text: string): boolean {
  return uuid.test(text)
}
