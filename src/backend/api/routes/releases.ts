import { Type } from 'typebox'
import {
  activateJudged,
  compareHostReleases,
  everything,
  judgeRelease,
  listHostReleases,
  showHostRelease,
  surveyRollback,
  type RollbackSurvey,
} from '../../../operate/index.ts'
import { rollBack, type ListedActivation } from '../../../release/index.ts'
import { exposeErrors } from '../../deploy/release-receiver.ts'
import { describeError } from '../../publish/publications.ts'
import { locateIn } from '../../draft/locate-in.ts'
import { rollBackToDraft } from '../../publish/roll-back-to-draft.ts'
import { defineRoute } from '../route.ts'
import type { Host } from '../../../host/index.ts'
import { formatTime, isWaypostError, type WaypostError } from '../../../kit/index.ts'
import { maybeText, oneOf, record, text, time } from '../shapes.ts'
import { systemDraftOf } from './draft-shapes.ts'

const releaseId = Type.String({ pattern: '^[0-9a-f]{4,64}$' })
const kind = Type.Union([Type.Literal('deploy'), Type.Literal('backend'), Type.Literal('rollback')])
const maxListed = 200
// Printed on terminals, so it must not contain invisible characters or change the text around it.
export const releaseMessage = Type.String({ maxLength: 500, pattern: '^[^\\p{C}\\p{Zl}\\p{Zp}]*$' })

const servers = defineRoute({
  name: 'listServers',
  summary: 'Servers with the release that each one serves',
  method: 'GET',
  path: '/server',
  scopes: ['backend.read'],
  response: record({
    entry: Type.Array(
      record({
        name: text,
        version: text,
        release: maybeText,
        /** The release that it is loading or failed to load. */
        wanted: maybeText,
        state: text,
        error: maybeText,
        state_at: time,
        heartbeat_at: time,
      }),
    ),
    now: time,
  }),
  async handle({ host }) {
    const { servers: listed, now } = await listHostReleases(host, { limit: 1 })
    const entry = listed.map(({ stateAt, heartbeatAt, ...server }) => ({
      ...server,
      state_at: formatTime(stateAt),
      heartbeat_at: formatTime(heartbeatAt),
    }))
    return { entry, now: formatTime(now) }
  },
})

const releases = defineRoute({
  name: 'listReleases',
  summary: 'Releases, the most recently activated first',
  method: 'GET',
  path: '/release',
  scopes: ['backend.read'],
  response: record({
    entry: Type.Array(
      record({
        id: text,
        is_active: Type.Boolean(),
        kind,
        activated_at: time,
        activated_by: text,
        message: maybeText,
        created_at: time,
      }),
    ),
  }),
  async handle({ host }) {
    const { releases: listed } = await listHostReleases(host, { limit: maxListed })
    const entry = listed.map((release) => ({
      id: release.id,
      is_active: release.isActive,
      kind: release.kind,
      activated_at: formatTime(release.activatedAt),
      activated_by: release.activatedBy,
      message: release.message ?? null,
      created_at: formatTime(release.createdAt),
    }))
    return { entry }
  },
})

const activation = record({
  /** Increases with each activation. */
  number: Type.Integer(),
  /** Whether its definition files are kept. */
  has_files: Type.Boolean(),
  kind,
  activated_at: time,
  activated_by: text,
  message: maybeText,
})

function formatActivation({ number, files, kind: how, activatedAt, activatedBy, message }: ListedActivation) {
  return {
    number,
    has_files: files !== undefined,
    kind: how,
    activated_at: formatTime(activatedAt),
    activated_by: activatedBy,
    message: message ?? null,
  }
}

const release = defineRoute({
  name: 'getRelease',
  summary: 'A release with its last activations',
  method: 'GET',
  path: '/release/:id',
  scopes: ['backend.read'],
  params: record({ id: releaseId }),
  response: record({
    id: text,
    waypost: text,
    message: maybeText,
    created_by: text,
    created_at: time,
    activations: Type.Array(activation),
  }),
  async handle({ host, params }) {
    const { id, message, createdBy, createdAt, activations, manifest } = await showHostRelease(host, params.id)
    return {
      id,
      waypost: manifest.waypost,
      message: message ?? null,
      created_by: createdBy,
      created_at: formatTime(createdAt),
      activations: activations.map(formatActivation),
    }
  },
})

/** A change of a release, as plans show it. */
export const change = record({
  change: Type.Union([Type.Literal('added'), Type.Literal('changed'), Type.Literal('removed')]),
  kind: text,
  name: text,
  breaking: Type.Boolean(),
  /** Whether it lets callers in without a token that needed one, or did not exist, before. */
  public: Type.Optional(Type.Boolean()),
  details: Type.Array(
    record({
      text,
      breaking: Type.Boolean(),
      affects: Type.Optional(Type.Array(text)),
      /** Set if only the built code differs. */
      code: Type.Optional(Type.Literal(true)),
    }),
  ),
  /** In the plan of a publication, `file:line` of the changed entry in the draft. */
  source: Type.Optional(text),
  /** Its JSON pointer. */
  at: Type.Optional(text),
  /** How often the methods that it removes or breaks were called in the last 24 hours, if they were. */
  calls: Type.Optional(Type.Integer()),
})

const difference = defineRoute({
  name: 'compareReleases',
  summary: 'What changes from one release to another',
  method: 'GET',
  path: '/release/:id/diff/:other',
  scopes: ['backend.read'],
  params: record({ id: releaseId, other: releaseId }),
  response: record({ from: text, to: text, changes: Type.Array(change) }),
  async handle({ host, draft, params }) {
    return compareHostReleases(host, params.id, params.other, locateIn(draft))
  },
})

const rollbackSurvey = defineRoute({
  name: 'surveyRollback',
  summary: 'The effect of a rollback to a release; changes nothing',
  method: 'GET',
  path: '/release/:id/rollback',
  // Loads the code of migrations to read their marks.
  scopes: ['backend.deploy'],
  params: record({ id: releaseId }),
  response: record({
    id: text,
    active: maybeText,
    changes: Type.Array(change),
    /** How breaking changes are handled. */
    breaking_changes: oneOf('warn', 'forbid'),
    /** Why it is not possible, whatever is allowed. */
    problem: Type.Union([record({ code: text, message: text, hint: maybeText }), Type.Null()]),
    missing_variables: Type.Array(record({ name: text, servers: Type.Array(text) })),
    unknown_migrations: Type.Array(text),
    unreachable: Type.Array(text),
  }),
  async handle({ host, params }) {
    const survey = await surveyOrDamage(host, params.id)
    if (isWaypostError(survey)) return { ...unknownSurvey, id: params.id, problem: formatReason(survey) }
    const [first] = judgeRelease(survey, everything).objections
    return {
      id: survey.id,
      active: survey.active?.id ?? null,
      changes: survey.changes,
      breaking_changes: survey.breakingChanges,
      problem: first === undefined ? null : formatReason(first.problem),
      missing_variables: survey.missingVariables,
      unknown_migrations: survey.unknownMigrations,
      unreachable: survey.unreachable,
    }
  },
})

/** A stored release that was damaged is a reason, too, and no failure of the request. */
async function surveyOrDamage(host: Host, id: string): Promise<RollbackSurvey | WaypostError> {
  try {
    return await exposeErrors(() => surveyRollback(host, id))
  } catch (error) {
    if (isWaypostError(error) && error.code === 'WP_RELEASE_CORRUPT') return error
    throw error
  }
}

const unknownSurvey = {
  active: null,
  changes: [],
  breaking_changes: 'warn',
  missing_variables: [],
  unknown_migrations: [],
  unreachable: [],
} as const

function formatReason(error: WaypostError) {
  const { hint = null, ...described } = describeError(error)
  return { ...described, hint }
}

const rollback = defineRoute({
  name: 'rollBack',
  summary: 'Activates an earlier release again',
  method: 'POST',
  path: '/release/:id/rollback',
  scopes: ['backend.deploy'],
  params: record({ id: releaseId }),
  body: record({
    /** Id of the release that must be active, or `none`. */
    against: Type.String({ pattern: '^([0-9a-f]{4,64}|none)$' }),
    message: Type.Optional(releaseMessage),
    /** Roll back although `breaking_changes: forbid` applies. Send it only after the person has typed what is asked. */
    allow_breaking: Type.Optional(Type.Boolean()),
    /** Roll back although running servers lack variables of the release. */
    allow_missing: Type.Optional(Type.Boolean()),
    /** Whether the files of the undone release become the draft, which must have no changes. */
    keep_draft: Type.Optional(Type.Boolean()),
  }),
  response: record({ id: text, activated: Type.Boolean() }),
  async handle({ params, body, actor, principal, ...call }) {
    const { host } = call
    const keeping = body.keep_draft === true ? systemDraftOf(call) : undefined
    const facts = await exposeErrors(() => surveyRollback(host, params.id))
    const { by, ...who } = await actor()
    const consent = { isConfirmed: true, allowBreaking: body.allow_breaking, allowMissing: body.allow_missing }
    const options = { by, actor: who, message: body.message, against: body.against }
    return activateJudged({ facts, consent }, options, (bound) =>
      keeping !== undefined
        ? rollBackToDraft(host.system, facts.id, {
            ...bound,
            author: principal.user,
            listChanges: (base, texts) => keeping.listChanges(base, texts),
          })
        : rollBack(host.system, facts.id, bound),
    )
  },
})

export const releaseRoutes = [servers, releases, release, difference, rollbackSurvey, rollback] as const
