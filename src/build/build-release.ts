import type { Definition } from '../definition/index.ts'
import { openBuilder, type BuilderOptions, type BuildResult } from './open-builder.ts'

/**
 * Builds the release of a project: all action and migration files bundled, and the manifest. The same sources give the
 * same release in any folder on any machine. Problems in the project's files are returned as diagnostics.
 */
export async function buildRelease(
  options: BuilderOptions & { readonly definition: Definition },
): Promise<BuildResult> {
  const builder = openBuilder(options)
  try {
    const { plugins } = await builder.plugins.build(options.definition.plugins)
    return await builder.build(options.definition, { plugins })
  } finally {
    await builder.close()
  }
}
