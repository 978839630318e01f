// The base of the command line: the base class of commands, and the launcher that finds and runs one.
// May import kit and @oclif/core, by its subpaths, because importing all of it takes twice as long.
export * as Args from '@oclif/core/args'
export * as Flags from '@oclif/core/flags'
export { againstFlag } from './flags.ts'
export { deliveriesFlag } from './flags.ts'
export { WaypostCommand } from './base-command.ts'
export { confirm } from './prompt.ts'
export { DevConsole } from './dev-console.ts'
export { shortId, toPrintable } from '../../src/kit/index.ts'
export { describeEnded } from './format.ts'
export { formatClock, formatEndpoint, formatFailedAttempt } from './event-lines.ts'
export { formatDay, formatSpan, formatWait } from './format.ts'
export { HostCommand } from './host-command.ts'
export { limitFlag } from './flags.ts'
export { listFlag } from './flags.ts'
export { isInFront, listenForKeys } from './listen-for-keys.ts'
export { migrationFlags } from './flags.ts'
export { openBrowser } from './open-browser.ts'
export { openInspector } from './open-browser.ts'
export { paint } from './format.ts'
export { factsJson, planJson } from './plan/plan-summary.ts'
export { formatPlan } from './plan/plan-lines.ts'
export { formatPlanMarkdown } from './plan/plan-markdown.ts'
export {
  describeActive,
  describeCounts,
  describeNothing,
  describePlanEnd,
  describeServers,
  isNothing,
} from './plan/plan-summary.ts'
export { plural, shortenCommit } from './format.ts'
export { printAnnotations } from './print-diagnostics.ts'
export { printDiagnostics, wrap } from './print-diagnostics.ts'
export { ProgressLine, showRevoked } from './progress-line.ts'
export { readSecret } from './prompt.ts'
export { RevertCommand } from './host-command.ts'
export { formatServing, type ServingReport } from './serving-lines.ts'
export { scriptConsole } from './script-console.ts'
export { sinceFlag } from './flags.ts'
export { isChoice, subscriptionChoice } from './flags.ts'
export { formatTable, type Column } from './table.ts'
export { untilAborted } from './write-output.ts'
export { nameOfUser } from './flags.ts'
export { waitFlag } from './flags.ts'
export { withDefault } from './flags.ts'
export { writeOutput } from './write-output.ts'

/** Loaded on use, with all of the project room. */
export async function writePluginManifest(folder: string, builtIn: readonly string[]): Promise<readonly string[]> {
  return (await import('./plugin-commands.ts')).writePluginManifest(folder, builtIn)
}
