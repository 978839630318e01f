import { checkSources, openBuilder } from '../../build/index.ts'
import { version, type Diagnostic } from '../../kit/index.ts'
import type { Project } from '../find-project.ts'
import { assertBuilt, loadProject } from '../load-project.ts'
import { collectDefinitionFiles } from '../definition-files.ts'
import { readCommit, type CommitOptions } from './read-commit.ts'
import type { Deployable } from './target.ts'

/** A build that runs in the background. */
export interface StartedBuild {
  /**
   * Waits for the build.
   * @throws WP_PROJECT_BROKEN after reporting the diagnostics
   */
  finish(report: (diagnostics: readonly Diagnostic[]) => void): Promise<Deployable>
  close(): Promise<void>
}

async function describeCommit(
  found: ReturnType<typeof readCommit>,
): Promise<Pick<Deployable, 'commit' | 'commitProblem'>> {
  const { commit, problem } = await found
  return problem === undefined ? { commit } : { commit, commitProblem: problem }
}

/** Loads a project and starts bundling it. Writes nothing to the folder. */
export async function startBuild(
  project: Project,
  about: Pick<CommitOptions, 'given' | 'variables'> = {},
): Promise<StartedBuild> {
  const builder = openBuilder({ ...project, version })
  const loaded = await loadProject(project, { pluginBuilder: builder.plugins })
  const { definition, partial, plugins } = loaded
  const collected = collectDefinitionFiles(project.root, loaded)
  const building = definition === undefined ? undefined : builder.build(definition, { plugins })
  building?.catch(() => undefined) // reported by `finish`
  const commit = readCommit(project.root, { ...about, files: collected.files.map(({ path }) => path) })
  commit.catch(() => undefined) // thrown by `finish`
  return {
    async finish(report) {
      const found = definition === undefined && partial !== undefined ? await checkSources(project.root, partial) : []
      const { release, diagnostics = found } = (await building) ?? {}
      const all = [...loaded.diagnostics, ...collected.diagnostics, ...diagnostics]
      const built = { ...loaded, diagnostics: all, ...(release === undefined ? {} : { release }) }
      return {
        release: assertBuilt(built, report),
        definition: definition!,
        folder: project.root,
        files: collected.files,
        ...(await describeCommit(commit)),
        kind: 'deploy',
      }
    },
    close: () => builder.close(),
  }
}
