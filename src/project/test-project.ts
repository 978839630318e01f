import { globSync } from 'node:fs'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { openBuilder, type Builder } from '../build/index.ts'
import type { Log } from '../contract/index.ts'
import { formatDiagnostics, hasErrors, readEnvironment, variable, version, type Diagnostic } from '../kit/index.ts'
import { activateRelease, loadActiveRelease, readSources, showSourceFiles } from '../release/index.ts'
import type { Artifact, BuiltRelease, StoredRelease } from '../release/index.ts'
import { loadReleasePlugins, type Host } from '../host/index.ts'
import { errors } from './errors.ts'
import { findProject } from './find-project.ts'
import { isolateConnections, type Isolation } from './isolate-connections.ts'
import { assertBuilt, buildProject, typesReplaced, type BuiltProject } from './load-project.ts'
import { migrateConnections, type LoadedRelease } from './migrate.ts'
import { bundleScripts, takeScripts, type BuiltScripts } from './scripts/build-scripts.ts'
import { findSeed, listSeeds, type SeedFile } from './scripts/find-seeds.ts'
import { runSeeds } from './scripts/run-seeds.ts'

/** A project built for its tests. */
export interface TestProject extends LoadedRelease {
  /**
   * Runs seeds of the project on its databases: all, or those with these names. Their events are not sent.
   * @throws WP_PROJECT_SEED_NONE, WP_PROJECT_SEED_UNKNOWN, WP_PROJECT_SEED_FAILED
   */
  seed(host: Host, names: true | readonly string[], log: Log): Promise<void>
  /**
   * Returns the same project with its own databases.
   * @throws the errors of `isolateConnections`
   */
  isolate(isolation: Omit<Isolation, 'folder'>): Promise<TestProject>
  /** Migrates a System and activates the project on it. */
  install(host: Host): Promise<{ stored: StoredRelease; artifacts: readonly Artifact[] }>
}

/**
 * Builds a project for tests, as the runner of the tests needs it: with coverage, lines belong to the source files; with
 * `--watch`, tests run again when a file of the project changes.
 * @throws WP_PROJECT_BROKEN, whose message lists the problems, WP_PROJECT_TEST_MOCKED
 */
export async function openTestProject(folder: string, { hasSeeds = false } = {}): Promise<TestProject> {
  const project = findProject(folder)
  const builder = openBuilder({ ...project, version })
  try {
    // Without variables, because those of a replaced connection need no value.
    const built = await buildProject(project, builder)
    const release = assertBuilt(built, printProblems)
    if (built.types === 'replaced') process.stderr.write(`${typesReplaced}\n`)
    assertUnmocked(project.root, release)
    reportFiles(built, release)
    showCoverage(project.root)
    const plugins = await loadReleasePlugins({ folder }, release)
    const seeds = hasSeeds ? await buildSeeds(folder, builder, built) : undefined
    return makeTestProject(folder, { release, plugins }, seeds)
  } finally {
    await builder.close()
  }
}

interface TestSeeds extends BuiltScripts {
  readonly files: readonly SeedFile[]
}

async function buildSeeds(folder: string, builder: Builder, { definition, plugins }: BuiltProject): Promise<TestSeeds> {
  const files = listSeeds(folder)
  if (files.length === 0) throw errors.WP_PROJECT_SEED_NONE()
  const built = await bundleScripts(builder, {
    definition: definition!,
    plugins,
    files: files.map(({ file }) => file),
  })
  const release = assertBuilt({ diagnostics: built.diagnostics, release: built.release }, printProblems)
  return { ...takeScripts(release), files }
}

/** Each test file builds the project, so warnings are left to `validate`. */
function printProblems(diagnostics: readonly Diagnostic[]): void {
  if (!hasErrors(diagnostics)) return
  process.stderr.write(`${formatDiagnostics(diagnostics, { colour: false, width: 100 })}\n`)
}

function makeTestProject(folder: string, built: LoadedRelease, seeds: TestSeeds | undefined): TestProject {
  const { release, plugins } = built
  return {
    ...built,
    isolate: async (isolation) =>
      makeTestProject(folder, await isolateConnections(built, { ...isolation, folder }), seeds),
    async seed(host, names, log) {
      const { files, hashes, release: scripts } = seeds!
      const chosen = names === true ? files : names.map((name) => findSeed(files, name))
      const own = { manifest: release.manifest, artifacts: scripts.artifacts }
      await runSeeds({ host, plugins, log, hashes, release: own, seeds: chosen, sendsEvents: false })
    },
    async install(host) {
      await migrateConnections({ ...built, host, folder, keepTables: true })
      await activateRelease(host.system, release, { by: 'test' })
      const stored = (await loadActiveRelease(host.system))!
      return { stored, artifacts: release.artifacts }
    },
  }
}

function listSources(root: string, { artifacts }: BuiltRelease): string[] {
  const names = new Set(artifacts.flatMap(({ content }) => readSources(content)))
  return [...names].filter((name) => !name.includes('node_modules/')).map((name) => new URL(name, rootUrl(root)).href)
}

function rootUrl(root: string): string {
  return pathToFileURL(path.join(root, path.sep)).href
}

/** Tells `node --test --watch` which files the tests depend on, as Node does for imports. */
function reportFiles({ project: { root }, files, pluginFiles }: BuiltProject, release: BuiltRelease): void {
  if (variable(readEnvironment(), 'WATCH_REPORT_DEPENDENCIES') === undefined) return
  const migrations = globSync('migrations/**/*.{ts,js,yml,yaml,json}', { cwd: root })
  const read = [...files, ...pluginFiles, ...migrations].map((file) => pathToFileURL(path.join(root, file)).href)
  process.send?.({ 'watch:import': [...new Set([...read, ...listSources(root, release)])] })
}

/**
 * Checks that no file of the project is mocked with `mock.module`, which would have no effect: actions are bundled as for
 * a deployment. Node then resolves the URL of the file to another one.
 * @throws WP_PROJECT_TEST_MOCKED
 */
function assertUnmocked(root: string, release: BuiltRelease): void {
  if (!hasNodeOption('--experimental-test-module-mocks')) return
  const mocked = listSources(root, release).find((url) => import.meta.resolve(url).includes('node-test-mock='))
  if (mocked !== undefined) throw errors.WP_PROJECT_TEST_MOCKED({ file: decodeURI(mocked.slice(rootUrl(root).length)) })
}

let isUnmappedNoted = false

/** Makes lines of actions visible to coverage, and says why they would be missing in the report of `node --test`. */
function showCoverage(root: string): void {
  const reports = variable(readEnvironment(), 'NODE_V8_COVERAGE')
  if (reports === undefined) return
  showSourceFiles(root)
  // The name of the folder that `node --test` makes; c8 always reads source maps.
  const isOfNode = path.basename(reports).startsWith('node-coverage-')
  if (isUnmappedNoted || !isOfNode || hasNodeOption('--enable-source-maps')) return
  isUnmappedNoted = true
  process.stderr.write('The coverage of Node has no actions without --enable-source-maps. See docs/testing.md.\n')
}

function hasNodeOption(name: string): boolean {
  return [...process.execArgv, variable(readEnvironment(), 'NODE_OPTIONS') ?? ''].some((one) => one.includes(name))
}
