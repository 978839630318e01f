import assert from 'node:assert/strict'
import { globSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import {
  checkTypes,
  generateAction,
  generateRoute,
  initProject,
  validateProject,
  type GeneratedRoute,
} from '../../src/project/index.ts'
import { linkDependencies } from '../support/project.ts'

export type Files = Readonly<Record<string, string>>

interface Project extends AsyncDisposable {
  readonly folder: string
  read(file: string): Promise<string>
  /** All files except those in `.waypost/` and `node_modules/`. */
  files(): Promise<Files>
  /** `POST /order --scopes order` */
  route(words: string): Promise<GeneratedRoute>
  action(file: string, route?: string): ReturnType<typeof generateAction>
}

export async function openProject(files: Files = {}, template?: 'todo' | 'empty'): Promise<Project> {
  const home = await mkdtemp(path.join(tmpdir(), 'waypost-generate-'))
  const folder = path.join(home, 'api')
  if (template !== undefined) {
    await initProject({ folder, template, force: false, install: false })
    await linkDependencies(folder)
  }
  for (const [file, text] of Object.entries(files)) {
    await mkdir(path.dirname(path.join(folder, file)), { recursive: true })
    await writeFile(path.join(folder, file), text)
  }
  const read = (file: string) => readFile(path.join(folder, file), 'utf8')
  return {
    folder,
    read,
    async files() {
      const own = globSync('**/*', { cwd: folder, exclude: ['.waypost', 'node_modules'], withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)))
        .toSorted()
      return Object.fromEntries(await Promise.all(own.map(async (name) => [name, await read(name)])))
    },
    route(words) {
      const [method = '', route = '', ...flags] = words.split(' ')
      const scopes = flags.indexOf('--scopes')
      return generateRoute({
        folder,
        method: method as 'GET',
        path: route,
        scopes: scopes === -1 ? undefined : flags[scopes + 1]!.split(',').filter((scope) => scope !== '-'),
        public: flags.includes('--public'),
        request: listOf(flags, '--request'),
        response: listOf(flags, '--response'),
        dryRun: flags.includes('--dry-run'),
      })
    },
    action: (file, route) => generateAction({ folder, file, route, dryRun: false }),
    [Symbol.asyncDispose]: () => rm(home, { recursive: true, force: true }),
  }
}

function listOf(flags: readonly string[], name: string): readonly string[] | undefined {
  const at = flags.indexOf(name)
  return at === -1 ? undefined : flags[at + 1]!.split(',')
}

/** Returns the files that are new or different in the second. */
export function changed(before: Files, after: Files): Files {
  return Object.fromEntries(Object.entries(after).filter(([file, text]) => before[file] !== text))
}

/** `waypost validate --types --strict` */
export async function assertValid({ folder }: Project): Promise<void> {
  const { diagnostics } = await validateProject(folder)
  assert.deepEqual(diagnostics, [])
  assert.deepEqual(await checkTypes(folder), { ok: true, output: '', diagnostics: [], rest: '' })
}

export const action = (name: string, route: string) =>
  `export default class ${name} implements Action<'${route}'> { async handle(): Promise<any> {} }`
