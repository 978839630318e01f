import { mkdtemp, mkdir, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { Definition, HttpMethod, Method } from '../../src/definition/index.ts'

/** Creates a project folder for a test: `files` by path, deleted on disposal. */
export async function makeProject(files: Readonly<Record<string, string>>, folder = 'project') {
  const outer = await realpath(await mkdtemp(path.join(tmpdir(), 'waypost-build-')))
  const root = path.join(outer, folder)
  const write = async (file: string, text: string): Promise<void> => {
    await mkdir(path.dirname(path.join(root, file)), { recursive: true })
    await writeFile(path.join(root, file), text)
  }
  await mkdir(root, { recursive: true })
  for (const [file, text] of Object.entries(files)) await write(file, text)
  return { root, outer, write, [Symbol.asyncDispose]: () => rm(outer, { recursive: true, force: true }) }
}

export const emptyDefinition: Definition = {
  routes: [],
  schemas: {},
  connections: {},
  events: {},
  scopes: {},
  listeners: {},
  cronjobs: {},
  rates: {},
  config: {},
  plugins: [],
  variables: {},
}

/** A method whose action is a file. Its location is `waypost.yml:2:3`, that of its action `waypost.yml:3:13`. */
export function makeMethod(method: HttpMethod, file: string, rest: Partial<Method> = {}): Method {
  return {
    method,
    public: true,
    scopes: [],
    responses: {},
    action: { file, at: { file: 'waypost.yml', line: 3, column: 13 } },
    at: { file: 'waypost.yml', line: 2, column: 3 },
    ...rest,
  }
}

/** A route `/N` with a GET for each action file. */
export function defineActions(...files: string[]): Definition {
  const routes = files.map((file, index) => ({
    path: `/${index}`,
    methods: [makeMethod('GET', file)],
    at: { file: 'waypost.yml', line: 1, column: 1 },
  }))
  return { ...emptyDefinition, routes }
}

/** An action that returns a JavaScript expression. */
export function actionReturning(expression: string, head = ''): string {
  return `${head}\nexport default class Sample {\n  async handle() {\n    return ${expression}\n  }\n}\n`
}
