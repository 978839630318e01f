import { Type } from 'typebox'
import { errors } from '../../errors.ts'
import type { Draft } from '../../draft/draft.ts'
import { defineRoute } from '../route.ts'
import { maybeText, oneOf, record, text } from '../shapes.ts'
import { diagnostic, draftOf, draftSaved, filePath } from './draft-shapes.ts'

// What the pages create from a description, as the commands generate:* do: with a preview of the files.

const name = Type.String({ minLength: 1, maxLength: 200 })
const flag = Type.Boolean()
const scopes = Type.Optional(Type.Array(name, { maxItems: 100 }))
/** Returns what would be written, and writes nothing. */
const preview = Type.Optional(flag)

const planned = {
  /** The texts before and after; null where there is no file. */
  files: Type.Array(record({ file: text, text: maybeText, before: maybeText })),
  /** Problems that the change adds. */
  diagnostics: Type.Array(diagnostic),
  /** Null for a preview. */
  saved: Type.Union([draftSaved, Type.Null()]),
}

const route = defineRoute({
  name: 'addRouteToDraft',
  summary: 'Adds a method with its schemas and a class without code, like waypost generate:route',
  method: 'POST',
  path: '/draft/route',
  scopes: ['backend.deploy'],
  usesDraft: true,
  body: record({
    method: oneOf('GET', 'POST', 'PUT', 'PATCH', 'DELETE'),
    path: Type.String({ minLength: 1, maxLength: 1000 }),
    scopes,
    public: Type.Optional(flag),
    preview,
  }),
  answer: record({
    /** `POST /order` */
    route: text,
    /** The file of its class. */
    action: text,
    ...planned,
  }),
  handle: notYet,
})

const actions = defineRoute({
  name: 'listActionFiles',
  summary: 'The files below src/ that contain an action, with what uses them',
  method: 'GET',
  path: '/draft/action',
  scopes: ['backend.read'],
  usesDraft: true,
  answer: record({
    entry: Type.Array(
      record({
        file: text,
        /** `GET /todo`, `cronjob tidy`, or `action Todo`. */
        used_by: Type.Array(text),
      }),
    ),
  }),
  handle: notYet,
})

const action = defineRoute({
  name: 'addActionToDraft',
  summary: 'Creates the file of an action with a class without code, like waypost generate:action',
  method: 'POST',
  path: '/draft/action',
  scopes: ['backend.deploy'],
  usesDraft: true,
  body: record({
    /** Such as `src/todo/insert.ts`. */
    file: filePath,
    /** `POST /todo`; by default the route that names the file. */
    route: Type.Optional(Type.String({ maxLength: 1000 })),
    preview,
  }),
  answer: record({
    /** `POST /todo`, or `cronjob tidy`. */
    use: text,
    file: text,
    text,
    /** Whether the file was written. */
    saved: flag,
  }),
  handle: notYet,
})

const variable = defineRoute({
  name: 'setDraftVariable',
  summary: 'Writes a variable to the .env file of the folder, which is never read back',
  method: 'PUT',
  path: '/draft/variable/:name',
  scopes: ['backend.deploy'],
  usesDraft: true,
  params: record({ name: Type.String({ maxLength: 1000 }) }),
  body: record({ value: Type.String({ maxLength: 65_536 }) }),
  handle: notYet,
})

async function notYet(call: { readonly draft?: Draft | undefined }): Promise<never> {
  draftOf(call)
  throw errors.WP_BACKEND_DRAFT()
}

export const draftPlanRoutes = [route, actions, action, variable]
