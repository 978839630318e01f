// project: the composition root of a project folder: init, validate, migrate, dev, and the client side of deployments.
// May import all rooms but testing. Server code is loaded on use, so that validate stays fast.
import type { MeasureOptions } from './contract/measure-coverage.ts'
import type { Coverage } from './contract/report.ts'
import type { DeployOptions, Deployment } from './deploy/deploy-project.ts'
import type { DeployPlan, PlanOptions } from './deploy/make-plan.ts'
import type { Rollback, RollbackOptions } from './deploy/roll-back-target.ts'
import type { Pull, PullOptions } from './pull-project.ts'
import type { DescribeOptions } from './generate-client.ts'
import type { DevOptions } from './dev-options.ts'
import type { DevServer } from './dev.ts'
import type { BundledPackage, DoctorOptions, DoctorReport } from './doctor.ts'
import type { MigrateOptions, MigrationReport } from './migrate.ts'
import type { MigrationStatus } from './migration-status.ts'
import type { AcceptOptions, AcceptReport } from './accept-migration.ts'
import type { RevertOptions, RevertReport } from './revert-migrations.ts'
import type { ResetOptions, ResetReport } from './scripts/reset-databases.ts'
import type { RunScriptOptions } from './scripts/run-script.ts'
import type { SeedOptions, SeedReport } from './scripts/seed-project.ts'
import type { TestProject } from './test-project.ts'
import type { OpenApi, RequestExchange } from '../runtime/index.ts'
export type { RequestExchange }

export type { DeployOptions, Deployment } from './deploy/deploy-project.ts'
export type { DeployPlan, TargetFacts, PlanOptions } from './deploy/make-plan.ts'
export type { Rollback, RollbackOptions, RollbackPlan } from './deploy/roll-back-target.ts'
export type { DescribeOptions } from './generate-client.ts'
export type { DevOptions, TakenPort } from './dev-options.ts'
export type { DevServer } from './dev.ts'
export type { DevConsole, DevReloadFailed, DevReloaded, DevStarted } from './dev-console.ts'
export type { BundledPackage, DoctorOptions, DoctorReport } from './doctor.ts'
export type { MigrateOptions, MigrationReport } from './migrate.ts'
export { parseForm } from './chosen-form.ts'
export type { AppliedMigration } from '../host/index.ts'
export type { ServerOutcome } from '../release/index.ts'
export type { ListedMigration, MigrationState, MigrationStatus } from './migration-status.ts'
export type { AcceptOptions, AcceptReport } from './accept-migration.ts'
export type { RevertOptions, RevertPlan, RevertReport } from './revert-migrations.ts'
export type { TestConnection } from './isolate-connections.ts'
export type { ResetOptions, ResetPlan, ResetReport } from './scripts/reset-databases.ts'
export type { RunScriptOptions } from './scripts/run-script.ts'
export type { SeedOptions, SeedReport } from './scripts/seed-project.ts'
export type { TestProject } from './test-project.ts'
import type { RunningDev } from './dev-server-file.ts'
export type { RunningDev }
export type { Pull, PullOptions } from './pull-project.ts'
export { openContract, type Contract, type ContractPoint } from './contract/contract-points.ts'
export {
  formatCoverage,
  formatLcov,
  joinCoverage,
  writeCoverageRecord,
  type Coverage,
  type CoverageRecord,
} from './contract/report.ts'
export { checkTypes, type TypeReport } from './check-types.ts'
export {
  generateAction,
  listMissingActions,
  type GenerateActionOptions,
  type GeneratedAction,
} from './generate/generate-action.ts'
export { generateRoute, type GeneratedRoute, type GenerateRouteOptions } from './generate/generate-route.ts'
export { generateTable, type GeneratedTable, type GenerateTableOptions } from './generate/generate-table.ts'
export { listPlugins, type ListedPlugin } from './list-plugins.ts'
export { checkCommandNames, findCommandsTwice, readPluginCommands, type PluginCommands } from './plugin-commands.ts'
export { shareWaypost } from '../plugin/index.ts'
export { drawTables, listProjectTables, type ProjectTable } from './list-tables.ts'
export { listRoutes, type ListedFolder, type ListedRoute, type ListOptions } from './list-routes.ts'
export type { SuggestedRequest } from './suggest-requests.ts'
export { createMigration, type CreateMigrationOptions } from './create-migration.ts'
export { initProject, isUnusedFolder, type InitOptions, type InitReport } from './init/init-project.ts'
export { listParts } from './init/parts.ts'
export { typesReplaced } from './load-project.ts'
export { validateProject, type ProjectCounts, type ValidationReport } from './validate.ts'

export async function rollBackTarget(options: RollbackOptions): Promise<Rollback | undefined> {
  return (await import('./deploy/roll-back-target.ts')).rollBackTarget(options)
}

/** Returns the `dev` that serves the project of a folder, if one runs. */
export async function findRunningDev(folder: string): Promise<RunningDev | undefined> {
  return (await import('./dev-server-file.ts')).findRunningDev(folder)
}

export async function dev(options: DevOptions): Promise<DevServer> {
  return (await import('./dev.ts')).dev(options)
}

export async function migrateProject(options: MigrateOptions): Promise<MigrationReport> {
  return (await import('./migrate.ts')).migrateProject(options)
}

export async function loadMigrationStatus(options: MigrateOptions): Promise<MigrationStatus> {
  return (await import('./migration-status.ts')).loadMigrationStatus(options)
}

export async function revertProjectMigrations(options: RevertOptions): Promise<RevertReport | undefined> {
  return (await import('./revert-migrations.ts')).revertProjectMigrations(options)
}

export async function acceptMigration(options: AcceptOptions): Promise<AcceptReport | undefined> {
  return (await import('./accept-migration.ts')).acceptMigration(options)
}

export async function redoMigrations(options: RevertOptions): Promise<RevertReport | undefined> {
  return (await import('./revert-migrations.ts')).redoMigrations(options)
}

export async function deployProject(options: DeployOptions): Promise<Deployment | undefined> {
  return (await import('./deploy/deploy-project.ts')).deployProject(options)
}

export async function pullProject(options: PullOptions): Promise<Pull | undefined> {
  return (await import('./pull-project.ts')).pullProject(options)
}

export async function planDeployment(options: PlanOptions): Promise<DeployPlan> {
  return (await import('./deploy/make-plan.ts')).planDeployment(options)
}

export async function describeApi(options: DescribeOptions): Promise<OpenApi> {
  return (await import('./generate-client.ts')).describeApi(options)
}

export async function generateClient(options: DescribeOptions): Promise<string> {
  return (await import('./generate-client.ts')).generateClient(options)
}

export async function measureCoverage(options: MeasureOptions): Promise<{ code: number; coverage: Coverage }> {
  return (await import('./contract/measure-coverage.ts')).measureCoverage(options)
}

export async function seedProject(options: SeedOptions): Promise<SeedReport | undefined> {
  return (await import('./scripts/seed-project.ts')).seedProject(options)
}

export async function resetDatabases(options: ResetOptions): Promise<ResetReport | undefined> {
  return (await import('./scripts/reset-databases.ts')).resetDatabases(options)
}

export async function runScript(options: RunScriptOptions): Promise<void> {
  return (await import('./scripts/run-script.ts')).runScript(options)
}

export async function openTestProject(folder: string, options?: { readonly hasSeeds?: boolean }): Promise<TestProject> {
  return (await import('./test-project.ts')).openTestProject(folder, options)
}

export async function readBillOfMaterials(): Promise<readonly BundledPackage[]> {
  return (await import('./doctor.ts')).readBillOfMaterials()
}

export async function doctor(options: DoctorOptions): Promise<DoctorReport> {
  return (await import('./doctor.ts')).doctor(options)
}
