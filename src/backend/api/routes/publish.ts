import { Type } from 'typebox'
import type { Texts } from '../../../definition/index.ts'
import type { Draft } from '../../draft/draft.ts'
import type { ReleaseChange } from '../../../release/index.ts'
import { exposeErrors } from '../../deploy/release-receiver.ts'
import { pointerOf } from '../../draft/values.ts'
import { errors } from '../../errors.ts'
import type { Publisher } from '../../publish/publisher.ts'
import { defineRoute, type AdminSources } from '../route.ts'
import { formatTime } from '../../../kit/index.ts'
import { maybeText, oneOf, record, text, time } from '../shapes.ts'
import { diagnostic, draftOf, formatDiagnostics } from './draft-shapes.ts'
import { change, releaseMessage } from './releases.ts'

/** The names of changes in the draft, such as `/event/todo_created` and `migrations/System/x.yml`; all by default. */
const selected = Type.Optional(Type.Array(Type.String({ maxLength: 4000 }), { maxItems: 10_000 }))
const names = Type.Array(text)

/** @throws WP_BACKEND_PUBLISH_NONE */
function publisherOf({ publisher }: AdminSources): Publisher {
  if (publisher === undefined) throw errors.WP_BACKEND_PUBLISH_NONE()
  return publisher
}

const plan = defineRoute({
  name: 'planPublication',
  summary: 'What publishing the draft would change; changes nothing',
  method: 'POST',
  path: '/draft/plan',
  scopes: ['backend.read'],
  body: record({ changes: selected }),
  response: record({
    /** The id of the active release. */
    active: maybeText,
    /** The id of the release that publishing would activate; null if the definition has errors. */
    release: maybeText,
    changes: Type.Array(change),
    /** How breaking changes are handled. */
    breaking_changes: oneOf('warn', 'forbid'),
    /** Migrations that have not run, in the order in which they will run. */
    migrations: Type.Array(
      record({
        /** `Connection/name`. */
        name: text,
        /** Empty for a migration with code. */
        sql: names,
        breaking: names,
        /** The data that is lost. */
        losses: names,
      }),
    ),
    /** Migrations that have run and that the release lacks: it cannot be published. */
    dropped_migrations: names,
    missing_variables: Type.Array(record({ name: text, servers: names, uses: names })),
    /** Places that begin to use a variable that is set already. */
    new_variable_uses: Type.Array(record({ name: text, uses: names })),
    /** Scopes that no active user has. */
    unheld_scopes: names,
    /** Which of the last releases a rollback can return to afterwards, and which it cannot because of these migrations. */
    rollbacks: record({ reachable: names, lost: names, migrations: names }),
    /** Servers with an older version: nothing can be published before they are updated. */
    older_servers: Type.Array(record({ name: text, version: text })),
    diagnostics: Type.Array(diagnostic),
    /** Those about access that the active release does not have: publishing needs `accept_access`. */
    access_warnings: Type.Array(diagnostic),
  }),
  async handle({ body, ...call }) {
    const own = publisherOf(call)
    const found = await exposeErrors(() => own.plan(body.changes))
    const draft = draftOf(call)
    const { texts } = found
    const changes = found.facts?.changes ?? []
    const places = await locateChanges(draft, texts, changes)
    return {
      active: found.active?.id ?? null,
      release: found.built?.serialized.id ?? null,
      changes: changes.map((one, index) => ({ ...one, ...places[index] })),
      breaking_changes: found.facts?.breakingChanges ?? 'warn',
      migrations: found.migrations,
      dropped_migrations: found.facts?.droppedMigrations ?? [],
      missing_variables: found.missingVariables,
      new_variable_uses: found.newVariableUses,
      unheld_scopes: found.facts?.unheldScopes ?? [],
      rollbacks: found.facts?.rollbacks ?? { reachable: [], lost: [], migrations: [] },
      older_servers: found.facts?.olderServers ?? [],
      diagnostics: await formatDiagnostics(draft, texts, found.diagnostics),
      access_warnings: await formatDiagnostics(draft, texts, found.accessWarnings),
    }
  },
})

/** Returns the places of changed entries in the draft. */
async function locateChanges({ thread }: Draft, texts: Texts, changes: readonly ReleaseChange[]) {
  const keys = changes.map(keysOfChange)
  const places = changes.length === 0 ? [] : await thread.ask('locate', { texts, keys: keys.map((one = []) => one) })
  return changes.map(({ change: how, kind, name }, index) => {
    if (how !== 'removed' && kind === 'migration') return { source: `migrations/${name}.yml:1` }
    const [own, source] = [keys[index], places[index]]
    return own === undefined || source === undefined ? {} : { source, at: pointerOf(own) }
  })
}

function keysOfChange({ change: how, kind, name }: ReleaseChange): readonly string[] | undefined {
  if (how === 'removed' || kind === 'migration') return undefined
  const [method = '', path = ''] = name.split(' ')
  return kind === 'route' ? ['routes', path, 'methods', method] : [sections[kind] ?? kind, name]
}

/** The parts of waypost.yml that do not have the names of changes. */
const sections: Partial<Record<ReleaseChange['kind'], string>> = { setting: 'config', variable: 'env' }

const publish = defineRoute({
  name: 'publishDraft',
  summary: 'Publishes the draft, or some of its changes. It continues in the background',
  method: 'POST',
  path: '/draft/publish',
  scopes: ['backend.deploy'],
  body: record({
    changes: selected,
    message: Type.Optional(releaseMessage),
    /** Run pending migrations first. */
    migrate: Type.Optional(Type.Boolean()),
    /** Publish breaking changes. With `breaking_changes: forbid`, send it only after the person has typed what is asked. */
    allow_breaking: Type.Optional(Type.Boolean()),
    /** Publish although the plan has warnings about access. */
    accept_access: Type.Optional(Type.Boolean()),
    /** Scopes that the caller gets, which needs `backend.admin`. */
    grant: Type.Optional(Type.Array(Type.String({ maxLength: 128 }), { maxItems: 100 })),
    /** The id from the plan. Refused if publishing would make another release. */
    release: Type.Optional(Type.String({ pattern: '^[0-9a-f]{64}$' })),
    /** The id of the release that must be active; null if none must be. */
    against: Type.Union([Type.String({ pattern: '^[0-9a-f]{4,64}$' }), Type.Null()]),
  }),
  status: 202,
  response: record({
    /** See `getPublication`. */
    id: text,
  }),
  async handle({ body: { allow_breaking: allowBreaking, accept_access: acceptAccess, ...request }, ...call }) {
    const own = publisherOf(call)
    if ((request.grant ?? []).length > 0) call.assertRecentPassword()
    const by = { host: await call.acting(), actor: await call.actor() }
    return { id: await exposeErrors(() => own.start({ ...request, allowBreaking, acceptAccess }, by)) }
  },
})

const publication = defineRoute({
  name: 'getPublication',
  summary: 'The progress of a publication',
  method: 'GET',
  path: '/publish/:id',
  scopes: ['backend.read'],
  params: record({ id: Type.String({ maxLength: 64 }) }),
  response: record({
    id: text,
    state: oneOf('migrating', 'activating', 'activated', 'failed'),
    /** The id of the release that it makes. */
    release: text,
    by: text,
    created_at: time,
    message: maybeText,
    /** The migrations that have run, as `Connection/name`. */
    migrated: names,
    /** The live servers while this release is active. */
    servers: Type.Array(record({ name: text, state: oneOf('waiting', 'serving', 'failed'), error: maybeText })),
    /** Why it failed. The release that was active before is still being served. */
    error: Type.Union([record({ code: text, message: text, hint: maybeText }), Type.Null()]),
  }),
  async handle({ params, ...call }) {
    const { createdAt, message, servers, error, ...found } = await publisherOf(call).find(params.id)
    return {
      ...found,
      created_at: formatTime(createdAt),
      message: message ?? null,
      servers: servers.map((server) => ({ ...server, error: server.error ?? null })),
      error: error === undefined ? null : { ...error, hint: error.hint ?? null },
    }
  },
})

export const publishRoutes = [plan, publish, publication] as const
