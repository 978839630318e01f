import { existsSync } from 'node:fs'
import path from 'node:path'
import { openBuilder } from '../build/index.ts'
import { version, type Diagnostic } from '../kit/index.ts'
import type { BuiltRelease } from '../release/index.ts'
import { runCheck, type Finding } from '../operate/index.ts'
import type { Host } from '../host/index.ts'
import { loadFacts, planMigrations } from '../store/index.ts'
import { findProject, type Project } from './find-project.ts'
import { loadProject } from './load-project.ts'

export interface CheckedProject {
  readonly finding: Finding
  readonly isThere: boolean
  /** Undefined if the project has errors. */
  readonly release?: BuiltRelease | undefined
}

/** Runs the checks of `validate` without writing types. */
export async function checkProject(folder: string): Promise<CheckedProject> {
  const check = 'project'
  if (!existsSync(path.join(folder, 'waypost.yml'))) {
    const message = 'No project in this folder (not required for a server)'
    return { isThere: false, finding: { check, state: 'skip', message } }
  }
  let release: BuiltRelease | undefined
  const finding = await runCheck(check, async () => {
    const project = findProject(folder)
    const built = await build(project)
    release = built.release
    if (release === undefined) {
      const message = `Project ${project.label} has ${count(countErrors(built.diagnostics), 'error')}`
      return { check, state: 'fail', message, next: 'List them:', command: 'waypost validate' }
    }
    const message = `Project ${project.label}, ${count(release.manifest.routes.length, 'route')}, valid`
    return { check, state: 'ok', message }
  })
  return { isThere: true, finding, release }
}

async function build(project: Project): Promise<{ release?: BuiltRelease; diagnostics: readonly Diagnostic[] }> {
  const { definition, diagnostics } = await loadProject(project)
  if (definition === undefined) return { diagnostics }
  const builder = openBuilder({ ...project, version })
  try {
    return await builder.build(definition)
  } finally {
    await builder.close()
  }
}

function countErrors(diagnostics: readonly Diagnostic[]): number {
  return diagnostics.filter(({ severity }) => severity === 'error').length
}

function count(many: number, noun: string): string {
  return `${many} ${noun}${many === 1 ? '' : 's'}`
}

/** Checks that the project's migrations of System have run unedited. Other connections are not checked. */
export async function checkMigrations({ system }: Host, { manifest }: BuiltRelease): Promise<Finding> {
  const own = manifest.migrations.filter(({ connection }) => connection === 'System')
  const plan = await planMigrations(
    system,
    own.map(({ name, checksum, code }) => ({ name, checksum, code, migration: onlyPlanned })),
  )
  const check = 'migrations'
  if (plan.edited.length > 0) {
    const next =
      'Restore the files, and write a new migration for the change. If an edit does not change what a migration does: waypost migrate:accept NAME'
    return {
      check,
      state: 'fail',
      message: `Migrations changed after they were applied: ${plan.edited.join(', ')}`,
      next,
    }
  }
  if (plan.pending.length > 0) {
    const names = plan.pending.map(({ name }) => name).join(', ')
    return {
      check,
      state: 'warn',
      message: `Migrations not applied: ${names}`,
      next: 'Apply them:',
      command: 'waypost migrate',
    }
  }
  if (plan.unknown.length > 0) {
    const next = 'They were applied from elsewhere: update the project to its newest version.'
    return {
      check,
      state: 'warn',
      message: `Applied migrations missing from the project: ${plan.unknown.join(', ')}`,
      next,
    }
  }
  if (own.length === 0) return { check, state: 'ok', message: 'The project has no migrations for System' }
  const message = `${count(own.length, 'migration')} of the project applied`
  return { check, state: 'ok', message }
}

const onlyPlanned = { up: () => Promise.reject(new Error('Doctor does not run migrations')) }

/** Code that works in `dev` on SQLite may fail on PostgreSQL. */
export async function checkKinds({ folder, system }: Host): Promise<readonly Finding[]> {
  const { origin } = await loadFacts(system)
  const isOther = system.kind === 'postgresql' && origin !== 'development'
  if (!isOther || !existsSync(path.join(folder, '.waypost', 'system.db'))) return []
  const next = 'Develop on PostgreSQL as well to avoid differences:'
  const command = 'WAYPOST_SYSTEM_URL=postgresql://localhost/DATABASE waypost dev'
  return [{ check: 'kinds', state: 'warn', message: 'dev uses SQLite, but this target uses PostgreSQL', next, command }]
}
