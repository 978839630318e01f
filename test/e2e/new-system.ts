import type { DatabaseKind } from '../../src/contract/index.ts'
import { openHost, type Host } from '../../src/host/index.ts'
import { copySystem } from '../support/migrated.ts'
import type { TestProject } from '../support/project.ts'
import { startPostgres } from '../support/postgres.ts'
import { baseUrl, makeHost, secret } from './serving.ts'

/** A migrated System with the folder of a host on it, whose commands find it by their environment. */
export interface NewSystem {
  readonly folder: TestProject
  /** The same System, opened in this process. */
  readonly host: Host
  readonly variables: Readonly<Record<string, string>>
  close(): Promise<void>
}

export async function makeSystem(kind: DatabaseKind): Promise<NewSystem> {
  const closers: (() => Promise<unknown>)[] = []
  const close = async () => {
    for (const step of closers.splice(0).toReversed()) await step()
  }
  try {
    let url = 'sqlite:system.db'
    if (kind === 'postgresql') {
      const postgres = await startPostgres()
      closers.push(postgres.stop)
      url = await postgres.createSystem()
    }
    const variables = {
      WAYPOST_SYSTEM_URL: url,
      WAYPOST_SECRET: secret,
      WAYPOST_BASE_URL: baseUrl,
      HOST: '127.0.0.1',
      LOG_LEVEL: 'silent',
    }
    const folder = await makeHost(variables)
    closers.push(folder.remove)
    await copySystem(url, folder.folder)
    const host = await openHost({ folder: folder.folder, variables, create: true, unmigrated: true })
    closers.push(() => host.close())
    return { folder, host, variables, close }
  } catch (error) {
    await close()
    throw error
  }
}
