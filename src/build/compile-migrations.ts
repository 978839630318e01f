import path from 'node:path'
import { sha256 } from '../kit/index.ts'
import { guardSources } from './guard-sources.ts'
import { makeBundleOptions } from './open-bundler.ts'

/** A file of `migrations/<Connection>/`. */
interface MigrationFile {
  readonly file: string
  /** Set if the file is YAML. */
  readonly declared?: object | undefined
}

export interface CompiledMigrations {
  /** What each migration does, by file: see `ManifestMigration.code`. */
  readonly codes: ReadonlyMap<string, string>
  /** The files of the project that they consist of, relative to the root. */
  readonly inputs: ReadonlySet<string>
}

const tagLength = 4
const hashLength = 40

const options = { splitting: false, packages: 'external', keepNames: false, sourcemap: false, banner: {} } as const

/**
 * Compiles migrations in code, each with what it imports from the project, without comments, layout, types and the names of
 * variables. Packages do not count. What does not compile has no code; the build reports why.
 * @param root a real path
 */
export async function compileMigrations(root: string, all: readonly MigrationFile[]): Promise<CompiledMigrations> {
  const files = all.flatMap(({ file, declared }) => (declared === undefined ? [file] : []))
  const codes = new Map<string, string>()
  const inputs = new Set<string>()
  if (files.length === 0) return { codes, inputs }
  const { build, version } = await import('esbuild')
  const tag = makeTag(version)
  const entries = new Map(files.map((file, index) => [file, `migration${index}`]))
  try {
    const { outputFiles, metafile } = await build({
      ...makeBundleOptions(root, entries),
      ...options,
      plugins: [guardSources(root, { names: new Set(), artifacts: new Map() })],
      write: false,
      metafile: true,
    })
    const byName = new Map(outputFiles.map((one) => [path.basename(one.path, '.js'), one]))
    for (const [file, name] of entries) {
      const { text = '' } = byName.get(name) ?? {}
      codes.set(file, tag + sha256(text).slice(0, hashLength))
    }
    for (const input of Object.keys(metafile.inputs)) inputs.add(input)
  } catch {
    // the bundle of the release has the same errors
  }
  return { codes, inputs }
}

/** Another version of the compiler, or other options, may write the same code in another way. */
function makeTag(version: string): string {
  const all = { ...makeBundleOptions('/', new Map(), { build: {} }), ...options }
  return sha256(JSON.stringify([version, all])).slice(0, tagLength)
}
