import { randomInt } from 'node:crypto'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { addUser, addUserScopes, backendScopes, consumerScope, loadUserScopes } from '../auth/index.ts'
import type { System } from '../store/index.ts'

/** The first user of a development System, stored in `.waypost/dev.json`. */
export interface DevelopmentUser {
  readonly name: string
  readonly password: string
}

const words = [
  'amber', 'brisk', 'calm', 'clever', 'dusty', 'early', 'fond', 'gentle', 'happy', 'ivory', 'jolly', 'keen', 'lucid',
  'mellow', 'noble', 'olive', 'proud', 'quiet', 'ready', 'sunny', 'tidy', 'urban', 'vivid', 'warm',
] // prettier-ignore
const animals = [
  'badger', 'crane', 'dingo', 'eagle', 'falcon', 'gecko', 'heron', 'ibis', 'jackal', 'koala', 'lemur', 'marten', 'newt',
  'otter', 'puffin', 'quail', 'raven', 'seal', 'tapir', 'urchin', 'viper', 'walrus', 'yak', 'zebra',
] // prettier-ignore

/** Ensures that the user exists and has all scopes of the project. */
export async function ensureDevelopmentUser(
  folder: string,
  system: System,
  scopes: readonly string[],
): Promise<DevelopmentUser> {
  const wanted = [...new Set([consumerScope, ...backendScopes, ...scopes])]
  const file = path.join(folder, '.waypost', 'dev.json')
  const stored = await readStoredUser(file)
  const row = await system.db
    .selectFrom('waypost_user')
    .select('id')
    .where('name', '=', stored?.name ?? 'dev')
    .executeTakeFirst()
  if (stored !== undefined && row !== undefined) {
    const owned = await loadUserScopes(system.db, row.id)
    const missing = wanted.filter((scope) => !owned.includes(scope))
    await addUserScopes(system, row.id, missing)
    return stored
  }
  // A "dev" user was added manually, or the System of the file was deleted.
  const user = { name: row === undefined ? 'dev' : `dev-${randomInt(1000, 9999)}`, password: makePassword() }
  await addUser(system, { ...user, scopes: wanted })
  await mkdir(path.dirname(file), { recursive: true })
  await writeFile(file, `${JSON.stringify(user, undefined, 2)}\n`, { mode: 0o600 })
  return user
}

async function readStoredUser(file: string): Promise<DevelopmentUser | undefined> {
  try {
    const stored = JSON.parse(await readFile(file, 'utf8')) as Partial<DevelopmentUser>
    return typeof stored.name === 'string' && typeof stored.password === 'string'
      ? (stored as DevelopmentUser)
      : undefined
  } catch {
    return undefined
  }
}

/** Easy to type, because only this machine can reach the System. */
function makePassword(): string {
  return `${words[randomInt(words.length)]}-${animals[randomInt(animals.length)]}-${randomInt(1000, 9999)}`
}
