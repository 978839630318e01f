import { existsSync } from 'node:fs'
import { link, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { makeSecret, makeUuid, variable } from '../kit/index.ts'
import { makeSecrets, storeErrors, type Secrets, type SystemFacts } from '../store/index.ts'
import { errors } from './errors.ts'
import type { Host } from './host.ts'

/**
 * The secrets of a System: `.waypost/secret` on one that `dev` made and on the embedded one, else `WAYPOST_SECRET`.
 * @throws WP_SERVER_SECRET_MISSING, WP_STORE_SECRET_CHANGED, WP_STORE_SECRET_SHORT
 */
export async function resolveSecrets(host: Host, facts: SystemFacts): Promise<Secrets> {
  const secrets = makeSecrets(await loadSecretText(host, facts))
  if (facts.secret_check !== undefined) assertSecret(host, secrets, facts.secret_check)
  return secrets
}

/** The secret, or `new,old`, as it stands where the System's secret stands. @throws WP_SERVER_SECRET_MISSING */
export async function loadSecretText(host: Host, facts: SystemFacts): Promise<string> {
  const given = variable(host.variables, 'WAYPOST_SECRET')
  const text = hasOwnSecret(host, facts) ? await readOrMakeFile(host.folder) : given
  if (text === undefined) throw errors.WP_SERVER_SECRET_MISSING({ target: host.system.target })
  return text
}

/** Whether the secret of a System stands in the folder, whatever `WAYPOST_SECRET` says. */
export function hasOwnSecret({ variables, isEmbedded }: Host, { origin }: SystemFacts): boolean {
  return origin === 'development' || (isEmbedded && variable(variables, 'WAYPOST_SECRET') === undefined)
}

export function secretFile(folder: string): string {
  return path.join(folder, '.waypost', 'secret')
}

/** Throws unless System was set up with these secrets. @throws WP_STORE_SECRET_CHANGED */
export function assertSecret({ system }: Host, secrets: Secrets, stored: string): void {
  if (!secrets.matches(stored)) throw storeErrors.WP_STORE_SECRET_CHANGED({ target: system.target })
}

async function readOrMakeFile(folder: string): Promise<string> {
  const file = secretFile(folder)
  await mkdir(path.dirname(file), { recursive: true })
  if (!existsSync(file)) await makeFile(file)
  return readOwnSecret(folder)
}

/** Of several commands at once the first makes it, and nobody reads it half written. */
async function makeFile(file: string): Promise<void> {
  const draft = `${file}.${makeUuid()}`
  await writeFile(draft, `${makeSecret()}\n`, { mode: 0o600, flag: 'wx', flush: true })
  try {
    await link(draft, file).catch(async (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') await rename(draft, file) // a file system without hard links
    })
  } finally {
    await rm(draft, { force: true })
  }
}

/** What stands in the folder's file: one secret, or two while it changes. */
async function readOwnSecret(folder: string): Promise<string> {
  return (await readFile(secretFile(folder), 'utf8')).trim()
}

/** Puts a new secret before the folder's own one: from then on the file opens what either of them sealed. */
export async function addOwnSecret(folder: string, old: string): Promise<string> {
  const text = `${makeSecret()},${old}`
  await replaceFile(secretFile(folder), text)
  return text
}

/** Leaves the first of the folder's own secrets, unless somebody else has changed the file meanwhile. */
export async function keepNewestSecret(folder: string, text: string): Promise<void> {
  if ((await readOwnSecret(folder)) === text) await replaceFile(secretFile(folder), text.split(',')[0]!)
}

async function replaceFile(file: string, text: string): Promise<void> {
  const draft = `${file}.${makeUuid()}`
  await writeFile(draft, `${text}\n`, { mode: 0o600, flag: 'wx', flush: true })
  await rename(draft, file)
}
