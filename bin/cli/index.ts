// The furniture of the command line: what every command is made of, and the launcher that finds and runs one.
// May import kit and @oclif/core, by its subpaths: the whole of it takes twice as long to load.
export * as Args from '@oclif/core/args'
export * as Flags from '@oclif/core/flags'
export { againstFlag } from './against-flag.ts'
export { WaypostCommand } from './base-command.ts'
export { confirm } from './confirm.ts'
export { DevConsole } from './dev-console.ts'
export { shortId, toPrintable } from '../../src/kit/index.ts'
export { describeEnded } from './describe-ended.ts'
export { formatClock, formatEndpoint, formatFailedAttempt } from './event-lines.ts'
export { formatDay, formatSpan } from './format-time.ts'
export { HostCommand } from './host-command.ts'
export { limitFlag } from './limit-flag.ts'
export { listFlag } from './list-flag.ts'
export { isInFront, listenForKeys } from './listen-for-keys.ts'
export { migrationFlags } from './migration-flags.ts'
export { openBrowser } from './open-browser.ts'
export { openInspector } from './open-inspector.ts'
export { paint } from './paint.ts'
export { planJson } from './plan/plan-json.ts'
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
export { plural } from './plural.ts'
export { printAnnotations } from './print-annotations.ts'
export { printDiagnostics, wrap } from './print-diagnostics.ts'
export { ProgressLine } from './progress-line.ts'
export { readSecret } from './read-secret.ts'
export { RevertCommand } from './revert-command.ts'
export { formatServing, type Served } from './serving-lines.ts'
export { sinceFlag } from './since-flag.ts'
export { isChoice, subscriptionChoice } from './subscription-choice.ts'
export { formatTable, shortenEnd, shortenPath, type Column } from './table.ts'
export { untilAborted } from './until-aborted.ts'
export { nameOfUser } from './user-name.ts'
export { waitFlag } from './wait-flag.ts'
export { withDefault } from './with-default.ts'
export { writeOutput } from './write-output.ts'
