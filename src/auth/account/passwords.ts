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
const maxLength = 1024

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
  if (password.length < 8 || password.length > maxLength || isOneCharacter(password))
    throw errors.WP_AUTH_PASSWORD_WEAK()
  const known = [name, email ?? ''].flatMap((text) => [text, text.split('@', 1)[0]!])
  if (known.some((text) => repeats(password, text))) throw errors.WP_AUTH_PASSWORD_NAME()
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
  const nonce = randomBytes(16)
  const cost = costOf(system)
  return writePhc(cost, nonce, await hash({ ...cost, tagLength, message: next.password, nonce }))
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
 * Whether a password matches a stored hash. Takes the same time without a hash as for a wrong password.
 * @throws WP_AUTH_BUSY
 */
export async function isPassword(
  system: PasswordOwner,
  password: string,
  stored: string | null | undefined,
): Promise<boolean> {
  const [, algorithm, , parameters = '', nonce = '', tag = ''] = (stored ?? makeUnknownHash(system)).split('$')
  const read = Object.fromEntries(parameters.split(',').map((pair) => pair.split('=')))
  if (algorithm !== 'argon2id') return false
  const expected = Buffer.from(tag, 'base64')
  const actual = await hash({
    message: password.slice(0, maxLength),
    nonce: Buffer.from(nonce, 'base64'),
    memory: Number(read['m']),
    passes: Number(read['t']),
    parallelism: Number(read['p']),
    tagLength: expected.length,
  })
  const isComplete = password.length <= maxLength // only its beginning was hashed otherwise
  return timingSafeEqual(actual, expected) && isComplete && stored !== null && stored !== undefined
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
