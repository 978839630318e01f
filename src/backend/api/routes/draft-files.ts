import { Type } from 'typebox'
import { loadReleaseFiles } from '../../../operate/index.ts'
import { loadActiveId } from '../../../release/index.ts'
import type { Draft } from '../../draft/draft.ts'
import type { DraftFiles } from '../../draft/file-change.ts'
import { isExceeded } from '../../draft/thread/draft-thread.ts'
import { etagOfValue } from '../../draft/values.ts'
import { errors } from '../../errors.ts'
import { defineRoute } from '../route.ts'
import { oneOf, record, text } from '../shapes.ts'
import {
  draftBodyLimit,
  diagnostic,
  fileText,
  draftOf,
  draftSaved,
  filePath,
  formatDiagnostics,
} from './draft-shapes.ts'
import { saveEdits, conditionOf, ignoringErrors } from './save-edits.ts'

export const file = defineRoute({
  name: 'getDraftFile',
  summary: 'The text of a definition file',
  method: 'GET',
  path: '/draft/file',
  scopes: ['backend.read'],
  usesDraft: true,
  query: record({ path: filePath }),
  response: record({
    file: text,
    text,
    /** The JSON pointers of waypost.yml at which the file is included. */
    at: Type.Array(text),
    diagnostics: Type.Array(diagnostic),
  }),
  async handle({ query: { path }, ...call }) {
    const own = draftOf(call)
    const files = await own.read()
    const found = textOf(files, path)
    call.setEtag(etagOfValue(found))
    const diagnostics = (await own.status()).diagnostics.filter((one) => one.file === path)
    const at = await listIncludes(own, files, path)
    return { file: path, text: found, at, diagnostics: await formatDiagnostics(own, files.texts, diagnostics) }
  },
})

/** The text can be read although the definition cannot be parsed within the limits. */
async function listIncludes({ thread }: Draft, { texts }: DraftFiles, path: string): Promise<readonly string[]> {
  try {
    return await thread.ask('includes', { texts, file: path })
  } catch (error) {
    if (isExceeded(error)) return []
    throw error
  }
}

export const files = defineRoute({
  name: 'listDraftFiles',
  summary: 'The texts of all definition files of the draft or of the active release',
  method: 'GET',
  path: '/draft/files',
  scopes: ['backend.read'],
  usesDraft: true,
  query: record({ of: oneOf('draft', 'active') }),
  response: record({ entry: Type.Array(record({ file: text, text })) }),
  async handle({ query: { of }, host, ...call }) {
    if (of === 'draft') {
      const { texts } = await draftOf(call).read()
      return { entry: [...texts].map(([name, content]) => ({ file: name, text: content })) }
    }
    const active = await loadActiveId(host.system)
    const found = active === undefined ? [] : (await loadReleaseFiles(host, active)).files
    return { entry: found.map(({ path: name, content }) => ({ file: name, text: content })) }
  },
})

/** @throws WP_BACKEND_DRAFT_FILE */
function textOf({ texts }: Pick<DraftFiles, 'texts'>, path: string): string {
  const found = texts.get(path)
  if (found === undefined) throw errors.WP_BACKEND_DRAFT_FILE({ file: path })
  return found
}

export const check = defineRoute({
  name: 'checkDraft',
  summary: 'The problems that definition files would have with other texts. Nothing is saved',
  method: 'POST',
  path: '/draft/check',
  scopes: ['backend.write'],
  usesDraft: true,
  body: record({ files: Type.Array(record({ file: filePath, text: fileText }), { minItems: 1, maxItems: 100 }) }),
  response: record({
    /** Those of the given files. */
    diagnostics: Type.Array(diagnostic),
  }),
  async handle({ body: { files }, ...call }) {
    const own = draftOf(call)
    const { texts } = await own.read()
    for (const { file } of files) textOf({ texts }, file)
    const found = await own.check(files)
    const changed = new Map([...texts, ...files.map((one) => [one.file, one.text] as const)])
    const inFiles = found.filter((one) => files.some(({ file }) => file === one.file))
    return { diagnostics: await formatDiagnostics(own, changed, inFiles) }
  },
})

export const putFile = defineRoute({
  name: 'setDraftFile',
  summary: 'Writes a definition file',
  method: 'PUT',
  path: '/draft/file',
  scopes: ['backend.write'],
  usesDraft: true,
  hasIfMatch: true,
  bodyLimit: draftBodyLimit,
  query: record({ path: filePath, ...ignoringErrors }),
  body: record({ text: fileText }),
  response: draftSaved,
  handle: ({ query, body, ...call }) =>
    saveEdits(
      call,
      { files: [{ file: query.path, text: body.text, ...conditionOf(call) }] },
      query.with_errors === 'true',
    ),
})

export const deleteFile = defineRoute({
  name: 'deleteDraftFile',
  summary: 'Deletes a definition file',
  method: 'DELETE',
  path: '/draft/file',
  scopes: ['backend.write'],
  usesDraft: true,
  hasIfMatch: true,
  query: record({ path: filePath, ...ignoringErrors }),
  response: draftSaved,
  handle: ({ query, ...call }) =>
    saveEdits(call, { files: [{ file: query.path, text: null, ...conditionOf(call) }] }, query.with_errors === 'true'),
})
