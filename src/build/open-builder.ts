import { realpath } from 'node:fs/promises'
import type { Definition } from '../definition/index.ts'
import { hasErrors, type Diagnostic } from '../kit/index.ts'
import type { Artifact, BuiltRelease } from '../release/index.ts'
import { checkBundle } from './check-bundle.ts'
import { checkErrors, checkWarnings } from './check-messages.ts'
import { compareText } from './compare-text.ts'
import { errors } from './errors.ts'
import { findEntries, type Entries } from './find-entries.ts'
import { makeArtifacts } from './make-artifacts.ts'
import { sortDiagnostics } from './make-diagnostic.ts'
import { makeManifest } from './make-manifest.ts'
import { openBundler, type Bundle, type Bundler } from './open-bundler.ts'

export interface BuilderOptions {
  /** The project's folder. */
  readonly root: string
  readonly name: string
  /** Waypost's own version. */
  readonly version: string
}

export interface BuildResult {
  /** Absent when a diagnostic is an error. */
  readonly release?: BuiltRelease
  readonly diagnostics: readonly Diagnostic[]
}

/** Builds the releases of one project, again and again. */
export interface Builder {
  /** Builds what the files hold now; calls wait for one another. */
  build(definition: Definition): Promise<BuildResult>
  close(): Promise<void>
}

/** Opens a builder that keeps what it parsed while the set of action and migration files stays the same. */
export function openBuilder(options: BuilderOptions): Builder {
  let kept: { readonly files: string; readonly bundler: Bundler } | undefined
  let last: Promise<unknown> = Promise.resolve()
  let isClosed = false

  const bundlerFor = async (root: string, files: readonly string[]): Promise<Bundler> => {
    const key = JSON.stringify([root, files])
    if (kept?.files === key) return kept.bundler
    await kept?.bundler.close()
    kept = undefined
    kept = { files: key, bundler: await openBundler(root, files) }
    return kept.bundler
  }
  const inTurn = <Value>(work: () => Promise<Value>): Promise<Value> => {
    const turn = last.then(work)
    last = turn.catch(() => undefined)
    return turn
  }
  return {
    build: async (definition) => {
      if (isClosed) throw errors.WP_BUILD_CLOSED()
      return inTurn(() => buildOnce(options, definition, bundlerFor))
    },
    close: () => {
      isClosed = true
      return inTurn(async () => kept?.bundler.close())
    },
  }
}

type BundlerFor = (root: string, files: readonly string[]) => Promise<Bundler>

async function buildOnce(
  options: BuilderOptions,
  definition: Definition,
  bundlerFor: BundlerFor,
): Promise<BuildResult> {
  const root = await realpath(options.root)
  const entries = await findEntries(root, definition)
  const files = [...entries.actions, ...entries.migrations].map(({ file }) => file).sort(compareText)
  const diagnostics = [...entries.diagnostics]
  let bundle: Bundle | undefined
  if (files.length > 0) {
    const result = await (await bundlerFor(root, files)).bundle()
    bundle = result.bundle
    diagnostics.push(...(await checkErrors(root, result.errors)), ...checkWarnings(root, result.warnings))
    if (bundle !== undefined) diagnostics.push(...(await checkBundle(root, bundle, entries)))
  }
  if (hasErrors(diagnostics)) return { diagnostics: sortDiagnostics(diagnostics) }
  return {
    release: makeRelease({ ...options, root }, definition, { entries, bundle }),
    diagnostics: sortDiagnostics(diagnostics),
  }
}

interface Built {
  readonly entries: Entries
  readonly bundle: Bundle | undefined
}

function makeRelease(options: BuilderOptions, definition: Definition, { entries, bundle }: Built): BuiltRelease {
  const byOutput = bundle === undefined ? new Map<string, Artifact>() : makeArtifacts(options.root, bundle)
  const byHash = new Map([...byOutput.values()].map((artifact) => [artifact.hash, artifact]))
  const artifacts = [...byHash.values()].sort((a, b) => compareText(a.hash, b.hash))
  const manifest = makeManifest(definition, {
    name: options.name,
    version: options.version,
    migrations: entries.migrations,
    artifacts,
    hashOf: (file) => byOutput.get(`${bundle?.entries.get(file)}.js`)!.hash,
  })
  return { manifest, artifacts }
}
