import assert from 'node:assert/strict'
import { rmSync } from 'node:fs'
import { cp, mkdir, mkdtemp, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { checkout, runCli, startCli, type CliOptions, type EndedCli, type RunningCli } from './cli.ts'

/** A project in a temporary folder, on which the built command line is run. */
export interface TestProject {
  readonly folder: string
  read(file: string): Promise<string>
  write(file: string, text: string): Promise<void>
  /** Replaces a text that occurs exactly once in the file. */
  edit(file: string, from: string, to: string): Promise<void>
  run(words: Words, options?: RunOptions): Promise<EndedCli>
  /**
   * Runs a command that must succeed.
   * @returns its stdout
   */
  ok(words: Words, options?: RunOptions): Promise<string>
  start(words: Words, options?: RunOptions): RunningCli
  remove(): Promise<void>
}

/** Arguments; a text is split at spaces. */
export type Words = string | readonly string[]
export type RunOptions = Omit<CliOptions, 'cwd'>

/** Creates the to-do project with `init`. Its dependencies are links to those of the checkout. */
export async function makeProject(env: Readonly<Record<string, string>> = {}): Promise<TestProject> {
  const home = await realpath(await mkdtemp(path.join(tmpdir(), 'waypost-e2e-')))
  const folder = path.join(home, 'todo')
  await cp(await scaffold(), folder, { recursive: true, verbatimSymlinks: true })
  return openProject(folder, env, () => rm(home, { recursive: true, force: true }))
}

/** Opens an existing folder. Its commands run in the given environment. */
export function openProject(
  folder: string,
  env: Readonly<Record<string, string>>,
  remove: () => Promise<void>,
): TestProject {
  const fileOf = (file: string) => path.join(folder, file)
  const optionsOf = (options: RunOptions = {}) => ({ cwd: folder, ...options, env: { ...env, ...options.env } })
  const project: TestProject = {
    folder,
    read: (file) => readFile(fileOf(file), 'utf8'),
    async write(file, text) {
      await mkdir(path.dirname(fileOf(file)), { recursive: true })
      await writeFile(fileOf(file), text)
    },
    async edit(file, from, to) {
      const text = await project.read(file)
      assert.equal(text.split(from).length, 2, `"${from}" does not stand once in ${file}`)
      await writeFile(
        fileOf(file),
        text.replace(from, () => to),
      )
    },
    run: (words, options) => runCli(split(words), optionsOf(options)),
    async ok(words, options) {
      const ended = await project.run(words, options)
      assert.equal(ended.code, 0, `waypost ${split(words).join(' ')}\n${ended.stdout}${ended.stderr}`)
      return ended.stdout
    },
    start: (words, options) => startCli(split(words), optionsOf(options)),
    remove,
  }
  return project
}

function split(words: Words): readonly string[] {
  return typeof words === 'string' ? words.split(' ') : words
}

/** Links the packages that a project needs to run and to be type-checked. */
export async function linkDependencies(folder: string): Promise<void> {
  const modules = path.join(folder, 'node_modules')
  await mkdir(modules)
  await symlink(checkout, path.join(modules, 'waypost'))
  for (const name of ['typescript', '@types']) {
    await symlink(path.join(checkout, 'node_modules', name), path.join(modules, name))
  }
}

let scaffolded: Promise<string> | undefined

/** Once per process; each project is a copy. */
function scaffold(): Promise<string> {
  scaffolded ??= makeScaffold()
  return scaffolded
}

async function makeScaffold(): Promise<string> {
  const home = await mkdtemp(path.join(tmpdir(), 'waypost-e2e-template-'))
  process.once('exit', () => rmSync(home, { recursive: true, force: true }))
  const { code, stderr } = await runCli('init todo --template todo --yes --no-install'.split(' '), { cwd: home })
  assert.equal(code, 0, stderr)
  const folder = path.join(home, 'todo')
  await linkDependencies(folder)
  return folder
}
