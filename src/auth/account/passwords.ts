import { argon2, randomBytes, timingSafeEqual, type Argon2Parameters } from 'node:crypto'
import { availableParallelism } from 'node:os'
import { promisify } from 'node:util'
import type { System } from '../../store/index.ts'
import { errors } from '../errors.ts'

const derive = promisify(argon2)

// OWASP's parameters for argon2id: 19 MiB, two passes, one lane.
const usualCost = { memory: 19_456, passes: 2, parallelism: 1 }
/** The least that argon2 allows, for a System that is thrown away: its hashes protect nothing, and its tests make many. */
const leastCost = { memory: 8, passes: 1, parallelism: 1 }
const tagLength = 32
// One processor stays free for requests.
export const hashesAtOnce = Math.min(2, Math.max(1, availableParallelism() - 1))
const queueLimit = 64
const longest = 1024

// Of the module, because the thread pool that they protect is the process's.
let running = 0
const waiting: (() => void)[] = []

/** A password that a user is to have. */
export interface NewPassword {
  readonly name: string
  readonly email?: string | null | undefined
  readonly password: string
}

/** @throws WP_AUTH_PASSWORD_WEAK, WP_AUTH_PASSWORD_NAME */
export function assertPasswordForm({ name, email, password }: NewPassword): void {
  if (password.length < 8 || password.length > longest) throw errors.WP_AUTH_PASSWORD_WEAK()
  const known = [name, email ?? ''].flatMap((text) => [text, text.split('@', 1)[0]!])
  if (known.some((text) => repeats(password, text))) throw errors.WP_AUTH_PASSWORD_NAME()
}

/** Whether a password is a text, once or repeatedly, apart from case, spaces and punctuation. */
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

/** A password's argon2id hash in PHC form. @throws WP_AUTH_PASSWORD_WEAK, WP_AUTH_PASSWORD_NAME, WP_AUTH_BUSY */
export async function hashPassword(system: PasswordOwner, next: NewPassword): Promise<string> {
  assertPasswordForm(next)
  const nonce = randomBytes(16)
  const cost = costOf(system)
  return writePhc(cost, nonce, await hash({ ...cost, tagLength, message: next.password, nonce }))
}

/** The System that keeps a hash: its own setting, which code gives and no environment, decides what one costs. */
type PasswordOwner = Pick<System, 'isDisposable'>

function costOf({ isDisposable }: PasswordOwner): typeof usualCost {
  return isDisposable ? leastCost : usualCost
}

function writePhc({ memory, passes, parallelism }: typeof usualCost, nonce: Uint8Array, tag: Uint8Array): string {
  return `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${base64(nonce)}$${base64(tag)}`
}

/** Whether a password belongs to a stored hash; takes as long for no hash as for a wrong password. @throws WP_AUTH_BUSY */
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
    message: password.slice(0, longest),
    nonce: Buffer.from(nonce, 'base64'),
    memory: Number(read['m']),
    passes: Number(read['t']),
    parallelism: Number(read['p']),
    tagLength: expected.length,
  })
  const isWhole = password.length <= longest // else only its beginning was looked at
  return timingSafeEqual(actual, expected) && isWhole && stored !== null && stored !== undefined
}

/** Hashed for names that nobody has, so that they cost the same time. */
function makeUnknownHash(system: PasswordOwner): string {
  return writePhc(costOf(system), randomBytes(16), randomBytes(tagLength))
}

/** Two at once at most: each one more would take a thread from the file system and DNS, and 19 MiB. */
async function hash(parameters: Argon2Parameters): Promise<Buffer> {
  if (running >= hashesAtOnce) {
    if (waiting.length >= queueLimit) throw errors.WP_AUTH_BUSY({}, { retryAfterSeconds: 2 })
    await new Promise<void>((resolve) => waiting.push(resolve))
  } else running++
  try {
    return await derive('argon2id', parameters)
  } finally {
    const next = waiting.shift()
    if (next === undefined) running--
    else next()
  }
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64').replace(/=+$/, '')
}
