import { mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { linkDependencies, openProject, type TestProject } from '../support/project.ts'

const yml = `routes:
  /version: { methods: { GET: { public: true, response: Any, action: src/version.ts } } }
  /slow: { methods: { GET: { public: true, response: Any, action: src/slow.ts } } }
  /echo: { methods: { POST: { public: true, response: Any, action: src/echo.ts } } }
  /stored: { methods: { GET: { public: true, response: Any, action: src/stored.ts } } }
  /own: { scopes: [todo], methods: { GET: { response: Any, action: src/version.ts } } }
  /note: { methods: { POST: { public: true, response: Any, action: src/note.ts } } }
schema:
  Any: { type: object, additionalProperties: true }
event:
  noted: { description: Something was noted, schema: Any, scopes: [todo] }
config:
  delivery_allow: [127.0.0.1/32]
`
const actionFile = (body: string) => `import { release } from './release.ts'
export default class Told {
  async handle(request, context) {
    ${body}
  }
}
`
const actions: Readonly<Record<string, string>> = {
  version: 'return { release }',
  slow: 'await new Promise((resolve) => setTimeout(resolve, 150)); return { release }',
  echo: 'return { release, text: request.body.text }',
  stored: `const { id } = await context.connection('System').selectFrom('waypost_active').select('id').executeTakeFirstOrThrow()
    return { release, id }`,
  note: `await context.dispatch('noted', { release }); return { release }`,
}
/** A server that is told so never gets so far as to serve a release that is named as it is told. */
const releaseFile = (name: string) => `export const release = '${name}'
if (process.env.STAYS_BEFORE === release) await new Promise((resolve) => setTimeout(resolve, 2 ** 30))
`

/** Writes a project whose routes tell the name of the release; it is built once that is named. */
export async function writeProject(environment: Readonly<Record<string, string>>): Promise<TestProject> {
  const folder = await realpath(await mkdtemp(path.join(tmpdir(), 'waypost-e2e-hosts-')))
  const project = openProject(folder, environment, () => rm(folder, { recursive: true, force: true }))
  await linkDependencies(folder)
  await project.write('package.json', '{ "name": "hosts", "type": "module", "dependencies": { "waypost": "*" } }')
  await project.write('waypost.yml', yml)
  for (const [file, body] of Object.entries(actions)) await project.write(`src/${file}.ts`, actionFile(body))
  return project
}

export function nameRelease(project: TestProject, name: string): Promise<void> {
  return project.write('src/release.ts', releaseFile(name))
}
