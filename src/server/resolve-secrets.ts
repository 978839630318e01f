import { mkdir, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { makeSecret, variable } from '../kit/index.ts'
import { makeSecrets, storeErrors, type Secrets, type SystemFacts } from '../store/index.ts'
import { errors } from './errors.ts'
import type { Host } from './host.ts'

/**
 * The secrets of a System: `.waypost/secret` on one that `dev` made and on the embedded one, else `WAYPOST_SECRET`.
 * @throws WP_SERVER_SECRET_MISSING, WP_STORE_SECRET_CHANGED, WP_STORE_SECRET_SHORT
 */
export async function resolveSecrets(host: Host, facts: SystemFacts): Promise<Secrets> {
  const given = variable(host.variables, 'WAYPOST_SECRET')
  const ownFile = facts.origin === 'development' || (host.isEmbedded && given === undefined)
  const text = ownFile ? await readOrMakeFile(host.folder) : given
  if (text === undefined) throw errors.WP_SERVER_SECRET_MISSING({ target: host.system.target })
  const secrets = makeSecrets(text)
  if (facts.secret_check !== undefined) assertSecret(host, secrets, facts.secret_check)
  return secrets
}

/** Throws unless System was set up with these secrets. @throws WP_STORE_SECRET_CHANGED */
export function assertSecret({ system }: Host, secrets: Secrets, stored: string): void {
  if (!secrets.matches(stored)) throw storeErrors.WP_STORE_SECRET_CHANGED({ target: system.target })
}

async function readOrMakeFile(folder: string): Promise<string> {
  const file = path.join(folder, '.waypost', 'secret')
  await mkdir(path.dirname(file), { recursive: true })
  // The first to create it wins; everybody reads what stands there.
  await writeFile(file, `${makeSecret()}\n`, { mode: 0o600, flag: 'wx' }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error
  })
  return (await readFile(file, 'utf8')).trim()
}
