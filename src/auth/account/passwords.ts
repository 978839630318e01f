import { argon2, randomBytes, timingSafeEqual, type Argon2Parameters } from 'node:crypto'
import { availableParallelism } from 'node:os'
import { promisify } from 'node:util'
import type { System } from '../../store/index.ts'
import { errors } from '../errors.ts'

const derive = promisify(argon2)

// OWASP's parameters for argon2id: 19 MiB, two passes, one lane.
const defaultCost = { memory: 19_456, passes: 2, parallelism: 1 }
/** The minimum that argon2 allows, for disposable Systems: their hashes protect nothing, and tests create many. */
const minCost = { memory: 8, passes: 1, parallelism: 1 }
const tagLength = 32
// Maximum number of concurrent hashes. Leaves one processor for requests.
export const maxConcurrentHashes = Math.min(2, Math.max(1, availableParallelism() - 1))
const queueLimit = 64
/** In characters, counted after normalization (NIST SP 800-63B-4, 3.1.1.2). */
const [minLength, maxLength] = [8, 1024]
/** The most characters that a password is typed with: NFKC composes at most four into one. */
export const maxTypedLength = 4 * maxLength

// Module state, because it protects the thread pool of the process.
let running = 0
const queue: (() => void)[] = []

/** A password to set. */
export interface NewPassword {
  readonly name: string
  readonly email?: string | null | undefined
  readonly password: string
}

/** Checks the rules for passwords. @throws WP_AUTH_PASSWORD_WEAK, WP_AUTH_PASSWORD_NAME */
export function assertPasswordRules({ name, email, password }: NewPassword): void {
  const length = lengthOf(normalize(password))
  if (length < minLength || length > maxLength || isOneCharacter(password)) throw errors.WP_AUTH_PASSWORD_WEAK()
  const known = [name, email ?? ''].flatMap((text) => [text, text.split('@', 1)[0]!])
  if (known.some((text) => repeats(password, text))) throw errors.WP_AUTH_PASSWORD_NAME()
}

/** Keyboards and systems write the same character in different ways: é as one or as two, full-width letters. */
function normalize(password: string): string {
  return password.normalize('NFKC')
}

function lengthOf(text: string): number {
  return Array.from(text).length
}

/** Whether a password consists of one repeated character, ignoring case, spaces and invisible characters, or of these only. */
function isOneCharacter(password: string): boolean {
  const folded = password.normalize('NFKC').toLowerCase()
  return new Set(folded.replaceAll(/[\s\p{C}\p{Default_Ignorable_Code_Point}]/gu, '')).size < 2
}

/** Whether a password consists of a text, possibly repeated, ignoring case, spaces and punctuation. */
function repeats(password: string, text: string): boolean {
  if (password.toLowerCase() === text.toLowerCase()) return true
  const [whole, part] = [fold(password), fold(text)]
  return part !== '' && whole !== '' && whole.replaceAll(part, '') === ''
}

function fold(text: string): string {
  return text
    .normalize('NFKC')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{M}\p{N}]/gu, '')
}

/**
 * Hashes a password with argon2id.
 * @returns the hash as a PHC string
 * @throws WP_AUTH_PASSWORD_WEAK, WP_AUTH_PASSWORD_NAME, WP_AUTH_BUSY
 */
export async function hashPassword(system: PasswordOwner, next: NewPassword): Promise<string> {
  assertPasswordRules(next)
  return rehashPassword(system, next.password)
}

/** Hashes a password that was set before and just verified, whatever the rules are today. @throws WP_AUTH_BUSY */
export async function rehashPassword(system: PasswordOwner, password: string): Promise<string> {
  const nonce = randomBytes(16)
  const cost = costOf(system)
  return writePhc(cost, nonce, await hash({ ...cost, tagLength, message: normalize(password), nonce }))
}

/** The System that stores a hash decides its cost. This is set in code, not by the environment. */
type PasswordOwner = Pick<System, 'isDisposable'>

function costOf({ isDisposable }: PasswordOwner): typeof defaultCost {
  return isDisposable ? minCost : defaultCost
}

function writePhc({ memory, passes, parallelism }: typeof defaultCost, nonce: Uint8Array, tag: Uint8Array): string {
  return `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${base64(nonce)}$${base64(tag)}`
}

/**
 * Compares a password with a stored hash. Takes the same time without a hash as for a wrong password.
 * @returns `outdated` if the hash was made before passwords were normalized
 * @throws WP_AUTH_BUSY
 */
export async function verifyPassword(
  system: PasswordOwner,
  password: string,
  stored: string | null | undefined,
): Promise<'right' | 'outdated' | 'wrong'> {
  // Longer ones are wrong, and only their beginning is hashed.
  const typed = password.slice(0, 2 * maxTypedLength)
  const normalized = normalize(typed)
  const isPossible = typed === password && lengthOf(normalized) <= maxLength
  const isRight = await isHashOf(system, isPossible ? normalized : typed, stored)
  if (isRight) return isPossible ? 'right' : 'wrong'
  if (normalized === typed) return 'wrong'
  return (await isHashOf(system, typed, stored)) && isPossible ? 'outdated' : 'wrong'
}

async function isHashOf(system: PasswordOwner, message: string, stored: string | null | undefined): Promise<boolean> {
  const [, algorithm, , parameters = '', nonce = '', tag = ''] = (stored ?? makeUnknownHash(system)).split('$')
  const read = Object.fromEntries(parameters.split(',').map((pair) => pair.split('=')))
  if (algorithm !== 'argon2id') return false
  const expected = Buffer.from(tag, 'base64')
  const actual = await hash({
    message,
    nonce: Buffer.from(nonce, 'base64'),
    memory: Number(read['m']),
    passes: Number(read['t']),
    parallelism: Number(read['p']),
    tagLength: expected.length,
  })
  return timingSafeEqual(actual, expected) && stored !== null && stored !== undefined
}

/** Makes the hash that is checked for unknown names, so that they take the same time. */
function makeUnknownHash(system: PasswordOwner): string {
  return writePhc(costOf(system), randomBytes(16), randomBytes(tagLength))
}

/** Limits concurrent hashes: each uses a thread that the file system and DNS need, and 19 MiB. */
async function hash(parameters: Argon2Parameters): Promise<Buffer> {
  if (running >= maxConcurrentHashes) {
    if (queue.length >= queueLimit) throw errors.WP_AUTH_BUSY({}, { retryAfterSeconds: 2 })
    await new Promise<void>((resolve) => queue.push(resolve))
  } else running++
  try {
    return await derive('argon2id', parameters)
  } finally {
    const next = queue.shift()
    if (next === undefined) running--
    else next()
  }
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64').replace(/=+$/, '')
}
