import { openBuilder, type Builder, type BuiltPlugin } from '../../build/index.ts'
import type { Cronjob, Definition } from '../../definition/index.ts'
import { version, type Diagnostic, type Variables } from '../../kit/index.ts'
import type { BuiltRelease } from '../../release/index.ts'
import { errors } from '../errors.ts'
import { findProject } from '../find-project.ts'
import { assertBuilt, loadDespiteMissing } from '../load-project.ts'

/** Scripts of a project, bundled like its actions, with the connections, events and variables that they can use. */
export interface BuiltScripts {
  readonly release: BuiltRelease
  /** The hash of each script's artifact, by file. */
  readonly hashes: ReadonlyMap<string, string>
}

export interface BuildScriptsOptions {
  readonly folder: string
  /** Those that the definition uses must be set. */
  readonly variables: Variables
  /** Relative to the folder, with forward slashes. */
  readonly files: readonly string[]
  onDiagnostics?: ((diagnostics: readonly Diagnostic[]) => void) | undefined
}

/**
 * Builds scripts of a project without its actions, which may have errors.
 * @throws WP_PROJECT_BROKEN
 */
export async function buildScripts({ folder, variables, files, onDiagnostics }: BuildScriptsOptions) {
  const project = findProject(folder)
  const builder = openBuilder({ ...project, version })
  try {
    const loaded = await loadDespiteMissing(project, { pluginBuilder: builder.plugins, describes: false, variables })
    const { definition, plugins, diagnostics } = loaded
    const built = definition && (await bundleScripts(builder, { definition, plugins, files }))
    const all = [...diagnostics, ...(built?.diagnostics ?? [])]
    const release = assertBuilt({ release: built?.release, diagnostics: all }, (found) => onDiagnostics?.(found))
    return takeScripts(release)
  } finally {
    await builder.close()
  }
}

interface ToBundle {
  readonly definition: Definition
  readonly plugins: readonly BuiltPlugin[]
  readonly files: readonly string[]
}

/** Bundles scripts as if each were a cronjob, so that the same rules hold for their imports, files and packages. */
export async function bundleScripts(builder: Builder, { definition, plugins, files }: ToBundle) {
  const cronjobs = files.map((file): readonly [string, Cronjob] => [
    file,
    { schedule: '0 0 1 1 *', action: { file, at: { file, line: 1, column: 1 } } },
  ])
  const built = await builder.build({ ...definition, routes: [], cronjobs: Object.fromEntries(cronjobs) }, { plugins })
  return { ...built, diagnostics: built.diagnostics.map(describeForm) }
}

/** A script need not be an action. */
function describeForm(diagnostic: Diagnostic): Diagnostic {
  if (diagnostic.code !== 'WP_BUILD_ACTION_NO_CLASS') return diagnostic
  const { code, message, hint } = errors.WP_PROJECT_SCRIPT_FORM({ file: diagnostic.file, what: 'a function' })
  return { ...diagnostic, code, message, hint: hint! }
}

export function takeScripts(release: BuiltRelease): BuiltScripts {
  const hashes = Object.entries(release.manifest.cronjobs).flatMap(([file, { action }]) =>
    'artifact' in action ? [[file, action.artifact] as const] : [],
  )
  return { release, hashes: new Map(hashes) }
}
