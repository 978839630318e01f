import { Type } from 'typebox'
import type { Principal } from '../../../contract/index.ts'
import type { Diagnostic } from '../../../kit/index.ts'
import type { Draft } from '../../draft/draft.ts'
import type { DraftFolder } from '../../draft/draft-folder.ts'
import type { DraftFiles } from '../../draft/file-change.ts'
import { planOrExplain, saveChange } from '../../draft/save-changes.ts'
import type { PlannedDraft } from '../../draft/planned-draft.ts'
import { errors } from '../../errors.ts'
import { invertFiles } from '../../draft/plan-edits.ts'
import { defineRoute, type AdminSources } from '../route.ts'
import { maybeText, oneOf, record, text } from '../shapes.ts'
import { respondSaved, diagnostic, draftOf, draftSaved, filePath, formatDiagnostics } from './draft-shapes.ts'

// What the pages create from a description, as the commands generate:* do: with a preview of the files.

const name = Type.String({ minLength: 1, maxLength: 200 })
const flag = Type.Boolean()
/** Returns what would be written, and writes nothing. */
const preview = Type.Optional(flag)

const planned = {
  /** The texts before and after; null where there is no file. */
  files: Type.Array(record({ file: text, text: maybeText, before: maybeText })),
  /** Errors that the change adds. A change with some is not saved. */
  diagnostics: Type.Array(diagnostic),
  /** Null for a preview. */
  saved: Type.Union([draftSaved, Type.Null()]),
}

type Call = Pick<AdminSources, 'draft' | 'host'> & { readonly principal: Principal }

/** Saves a plan, or only shows it. */
async function saveOrShow<Plan extends PlannedDraft>(
  call: Call,
  isPreview: boolean | undefined,
  plan: (files: DraftFiles) => Promise<Plan>,
) {
  const draft = draftOf(call)
  const explained = (files: DraftFiles) => planOrExplain(draft, files.texts, () => plan(files))
  if (isPreview === true) {
    const files = await draft.read()
    const shown = await explained(files)
    return describe(draft, shown, { files, found: await draft.findNewErrors(shown), saved: null })
  }
  const files = await draft.read()
  const saved = await saveChange(draft, explained, { by: call.principal.user })
  const { changes, code = [] } = saved.plan
  // Code is not a part of the draft: it stays.
  const inverse = invertFiles(changes.filter(({ file }) => !code.includes(file)))
  const response = await respondSaved(call, saved, { count: changes.length, inverse })
  return describe(draft, saved.plan, { files, found: [], saved: response })
}

async function describe<Plan extends PlannedDraft>(
  draft: Draft,
  plan: Plan,
  {
    files,
    found,
    saved,
  }: {
    readonly files: DraftFiles
    readonly found: readonly Diagnostic[]
    readonly saved: Awaited<ReturnType<typeof respondSaved>> | null
  },
) {
  return {
    plan,
    response: {
      files: plan.changes.map(({ file, text: after, before }) => ({
        file,
        text: after ?? null,
        before: before ?? null,
      })),
      diagnostics: await formatDiagnostics(draft, files.texts, found),
      saved,
    },
  }
}

/** @throws WP_BACKEND_DRAFT_CODE on a server */
function folderOf(call: Call): DraftFolder {
  const { folder } = draftOf(call)
  if (folder === undefined) throw errors.WP_BACKEND_DRAFT_CODE()
  return folder
}

const route = defineRoute({
  name: 'addRouteToDraft',
  summary: 'Adds a method with its schemas and a class without code, like waypost generate:route',
  method: 'POST',
  path: '/draft/route',
  scopes: ['backend.write'],
  usesDraft: true,
  body: record({
    method: oneOf('GET', 'POST', 'PUT', 'PATCH', 'DELETE'),
    path: Type.String({ minLength: 1, maxLength: 1000 }),
    scopes: Type.Optional(Type.Array(name, { maxItems: 100 })),
    public: Type.Optional(flag),
    /** Media types of the body and of the response; by default JSON. */
    request: Type.Optional(Type.Array(name, { minItems: 1, maxItems: 20 })),
    response: Type.Optional(Type.Array(name, { minItems: 1, maxItems: 20 })),
    preview,
  }),
  response: record({
    /** `POST /order` */
    route: text,
    /** The file of its class. */
    action: text,
    ...planned,
  }),
  fields: { WP_PROJECT_GENERATE: 'body/path', WP_PROJECT_GENERATE_ACCESS: 'body/scopes' },
  async handle({ body: { preview: isPreview, public: isPublic = false, ...body }, ...call }) {
    const wanted = { ...body, public: isPublic }
    const { plan, response } = await saveOrShow(call, isPreview, () => folderOf(call).planRoute(wanted))
    return { route: plan.route, action: plan.action, ...response }
  },
})

const actions = defineRoute({
  name: 'listActionFiles',
  summary: 'The files below src/ that contain an action, with what uses them',
  method: 'GET',
  path: '/draft/action',
  scopes: ['backend.read'],
  usesDraft: true,
  response: record({
    entry: Type.Array(
      record({
        file: text,
        /** `GET /todo`, or `cronjob tidy`. */
        used_by: Type.Array(text),
      }),
    ),
  }),
  async handle(call) {
    const listed = await draftOf(call).listActions()
    return { entry: listed.map(({ file, usedBy }) => ({ file, used_by: usedBy })) }
  },
})

const action = defineRoute({
  name: 'addActionToDraft',
  summary: 'Creates the file of an action with a class without code, like waypost generate:action',
  method: 'POST',
  path: '/draft/action',
  scopes: ['backend.write'],
  usesDraft: true,
  body: record({
    /** Such as `src/todo/insert.ts`. */
    file: filePath,
    /** `POST /todo`; by default the route that names the file. */
    route: Type.Optional(Type.String({ maxLength: 1000 })),
    preview,
  }),
  response: record({
    /** `POST /todo`, or `cronjob tidy`. */
    use: text,
    file: text,
    text,
    ...planned,
  }),
  fields: { WP_PROJECT_GENERATE: 'body/file' },
  async handle({ body: { preview: isPreview, ...body }, ...call }) {
    const { plan, response } = await saveOrShow(call, isPreview, () => folderOf(call).planAction(body))
    return { use: plan.use, file: plan.file, text: plan.text, ...response }
  },
})

const variable = defineRoute({
  name: 'setDraftVariable',
  summary:
    'Stores a variable until the draft is published; in dev, writes it to the .env file. No request returns its value',
  method: 'PUT',
  path: '/draft/variable/:name',
  scopes: ['backend.write'],
  usesDraft: true,
  params: record({ name: Type.String({ maxLength: 1000 }) }),
  body: record({ value: Type.String({ maxLength: 65_536 }) }),
  response: record({
    /** The name to use in the definition: another one if a value of this name is in use. */
    name: text,
  }),
  fields: {
    WP_SERVER_VARIABLE_NAME: 'params/name',
    WP_SERVER_VARIABLE_RESERVED: 'params/name',
    WP_SERVER_VARIABLE_VALUE: 'body/value',
    WP_BACKEND_DRAFT_VARIABLE: 'body/value',
  },
  async handle({ params, body, ...call }) {
    return { name: await draftOf(call).setVariable(params.name, body.value, call.principal.user) }
  },
})

export const draftPlanRoutes = [route, actions, action, variable] as const
