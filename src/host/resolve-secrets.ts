import { existsSync } from 'node:fs'
import { link, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { makeSecret, makeUuid, variable } from '../kit/index.ts'
import { makeSecrets, storeErrors, type Secrets, type SystemFacts } from '../store/index.ts'
import { errors } from './errors.ts'
import type { Host } from './host.ts'

/**
 * Loads the secrets of a System: from `.waypost/secret` if `dev` created it or it is embedded, otherwise from
 * `WAYPOST_SECRET`.
 * @throws WP_SERVER_SECRET_MISSING, WP_STORE_SECRET_CHANGED, WP_STORE_SECRET_ROTATING, WP_STORE_SECRET_SHORT
 */
export async function resolveSecrets(host: Host, facts: SystemFacts): Promise<Secrets> {
  const secrets = makeSecrets(await loadSecretText(host, facts))
  if (facts.secret_check !== undefined) assertSecret(host, secrets, facts.secret_check)
  // Otherwise this process could not decrypt some values, and deliveries that need them would fail for good.
  if (facts.secret_next !== undefined && !secrets.matches(facts.secret_next))
    throw storeErrors.WP_STORE_SECRET_ROTATING({ target: host.system.target })
  return secrets
}

/**
 * Loads the text of the secret, or `new,old` while it changes, from where this System has it.
 * @throws WP_SERVER_SECRET_MISSING
 */
export async function loadSecretText(host: Host, facts: SystemFacts): Promise<string> {
  const given = variable(host.variables, 'WAYPOST_SECRET')
  const text = hasSecretFile(host, facts) ? await readOrMakeFile(host.folder) : given
  if (text === undefined) throw errors.WP_SERVER_SECRET_MISSING({ target: host.system.target })
  return text
}

/** Whether the secret of a System is in the folder's file. `WAYPOST_SECRET` is then ignored. */
export function hasSecretFile({ variables, isEmbedded }: Host, { origin }: SystemFacts): boolean {
  return origin === 'development' || (isEmbedded && variable(variables, 'WAYPOST_SECRET') === undefined)
}

export function secretFile(folder: string): string {
  return path.join(folder, '.waypost', 'secret')
}

/**
 * Checks that System was set up with these secrets.
 * @throws WP_STORE_SECRET_CHANGED
 */
export function assertSecret({ system }: Host, secrets: Secrets, stored: string): void {
  if (!secrets.matches(stored)) throw storeErrors.WP_STORE_SECRET_CHANGED({ target: system.target })
}

async function readOrMakeFile(folder: string): Promise<string> {
  const file = secretFile(folder)
  await mkdir(path.dirname(file), { recursive: true })
  if (!existsSync(file)) await makeFile(file)
  return readSecretFile(folder)
}

/**
 * Creates the file atomically: the first of several concurrent commands creates it, and no command reads a partial
 * file.
 */
async function makeFile(file: string): Promise<void> {
  const draft = `${file}.${makeUuid()}`
  await writeFile(draft, `${makeSecret()}\n`, { mode: 0o600, flag: 'wx', flush: true })
  try {
    await link(draft, file).catch(async (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') await rename(draft, file) // for file systems without hard links
    })
  } finally {
    await rm(draft, { force: true })
  }
}

/** Reads the folder's file: one secret, or two while it changes. */
async function readSecretFile(folder: string): Promise<string> {
  return (await readFile(secretFile(folder), 'utf8')).trim()
}

/** Adds a new secret before the current one. Both decrypt from then on. */
export async function addSecret(folder: string, old: string): Promise<string> {
  const text = `${makeSecret()},${old}`
  await replaceFile(secretFile(folder), text)
  return text
}

/** Removes all but the newest secret from the file, unless another process has changed it. */
export async function removeOldSecrets(folder: string, text: string): Promise<void> {
  if ((await readSecretFile(folder)) === text) await replaceFile(secretFile(folder), text.split(',')[0]!)
}

async function replaceFile(file: string, text: string): Promise<void> {
  const draft = `${file}.${makeUuid()}`
  await writeFile(draft, `${text}\n`, { mode: 0o600, flag: 'wx', flush: true })
  await rename(draft, file)
}
