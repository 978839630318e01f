import { hash, randomBytes, randomUUID } from 'node:crypto'

/** A random UUID (version 4), the form of user, client and family ids. */
export function makeUuid(): string {
  return randomUUID()
}

/** A secret of the given number of random bytes (256 bits by default), base64url. */
export function makeSecret(bytes = 32): string {
  return randomBytes(bytes).toString('base64url')
}

const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'

/** A random id that a person can read aloud, without I, L, O and U: `prefix` and then `length` characters of 5 bits each. */
export function makeId(prefix: string, length = 16): string {
  if (used + length > pool.length) {
    pool = randomBytes(Math.max(4096, length))
    used = 0
  }
  let id = prefix
  for (const end = used + length; used < end; used++) id += alphabet.charAt(pool[used]! & 31)
  return id
}

/** Random bytes that no id had yet: to ask for a few costs as much as to ask for many. */
let pool = Buffer.alloc(0)
let used = 0

/** SHA-256 as lower-case hex. */
export function sha256(content: string | Uint8Array): string {
  return hash('sha256', content, 'hex')
}

/** Like `makeId`, but later ones sort behind earlier ones: 10 characters of time and 10 random ones. */
export function makeSortedId(prefix: string, nowMs: number): string {
  return makeId(startOfSortedIds(prefix, nowMs), 10)
}

/** What sorted ids begin with that are made at a time: earlier ones sort before it, later ones behind it. */
export function startOfSortedIds(prefix: string, nowMs: number): string {
  let time = ''
  for (let rest = Math.floor(nowMs), place = 0; place < 10; place++, rest = Math.floor(rest / 32)) {
    time = alphabet.charAt(rest % 32) + time
  }
  return prefix + time
}

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** Whether a text has the form of a UUID: no database is asked for a record whose id cannot exist. */
export function isUuid(text: string): boolean {
  return uuid.test(text)
}
