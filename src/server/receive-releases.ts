import { mountReleases } from '../backend/index.ts'
import type { Guard } from '../auth/index.ts'
import type { JsonSchema } from '../contract/index.ts'
import { variable, type Variables } from '../kit/index.ts'
import type { PluginSet } from '../plugin/index.ts'
import type { Endpoint } from '../runtime/index.ts'
import { errors } from './errors.ts'
import { surveyRollback } from '../operate/index.ts'
import { type Host, migrateRelease, pendingMigrations } from '../host/index.ts'

export interface ReceiveOptions {
  readonly host: Host
  readonly plugins: PluginSet
  readonly guard: Guard
  /** Whether this is `dev`. */
  readonly isDevelopment: boolean
}

/** Mounts the receiving side of deployments as this server's environment allows. @throws WP_SERVER_REMOTE_DEPLOY */
export function receiveReleases({ host, plugins, guard, isDevelopment }: ReceiveOptions): Endpoint {
  const closed = readRemoteDeploy(host.variables) ? undefined : 'off'
  return mountReleases({
    system: host.system,
    guard,
    closed: isDevelopment ? 'development' : closed,
    classes: { connections: configsOf(plugins.connections), actions: configsOf(plugins.actions) },
    migrate: (release) => migrateRelease({ host, plugins, release }),
    surveyRollback: (beginning) => surveyRollback(host, beginning),
    async pendingMigrations({ connections, migrations, activeConnections }, { mayOpen }) {
      // Other connections could lead anywhere, with any of this server's variables in their address.
      const checkedConnections = mayOpen ? undefined : new Set(activeConnections)
      const isChecked = ({ connection }: { connection: string }) => checkedConnections?.has(connection) !== false
      const known = { connections, migrations: migrations.filter(isChecked) }
      const pending = await pendingMigrations({ host, plugins, release: { manifest: known } })
      return [...pending, ...migrations.filter((one) => !isChecked(one))].map(
        ({ connection, name }) => `${connection}/${name}`,
      )
    },
  })
}

function configsOf(classes: ReadonlyMap<string, { readonly config: object }>) {
  return Object.fromEntries([...classes].map(([name, { config }]) => [name, { config: config as JsonSchema }]))
}

/** Whether `WAYPOST_REMOTE_DEPLOY` allows deployments over HTTP; only `off` forbids them. */
function readRemoteDeploy(variables: Variables): boolean {
  const value = variable(variables, 'WAYPOST_REMOTE_DEPLOY') ?? 'on'
  if (value !== 'on' && value !== 'off') throw errors.WP_SERVER_REMOTE_DEPLOY({ value })
  return value === 'on'
}
