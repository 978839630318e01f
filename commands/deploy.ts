import {
  againstFlag,
  Flags,
  WaypostCommand,
  confirm,
  describeActive,
  describeNothing,
  describePlanEnd,
  describeServers,
  formatPlan,
  formatPlanMarkdown,
  formatServing,
  isNothing,
  nameOfUser,
  planJson,
  printDiagnostics,
  waitFlag,
  shortId,
  wrap,
} from '../bin/cli/index.ts'
import { readEnvironment, systemClock } from '../src/kit/index.ts'
import type { Judgement } from '../src/operate/index.ts'
import type { Deployment, DeployPlan, TargetFacts, PlanOptions } from '../src/project/index.ts'

/** With --detailed-exitcode: the plan contains changes. */
const exitChanges = 3

export default class Deploy extends WaypostCommand {
  static override description =
    'Build the project and deploy it\nA deployment is all or nothing. Breaking changes and new warnings about access must be confirmed in the terminal or with --yes.'
  static override examples = [
    '<%= config.bin %> <%= command.id %> --plan',
    '<%= config.bin %> <%= command.id %> --migrate --yes --message "Add content"',
    '<%= config.bin %> <%= command.id %> --yes --url https://api.example.com --against 4f1c9a2e',
    '<%= config.bin %> <%= command.id %> --plan --markdown > plan.md',
    '<%= config.bin %> <%= command.id %> --from https://staging.example.com --url https://api.example.com',
  ]
  static override enableJsonFlag = true
  static override flags = {
    plan: Flags.boolean({ description: 'Show what would change without changing anything' }),
    'detailed-exitcode': Flags.boolean({
      description: 'With --plan: exit with 0 if there is nothing to do, with 3 if there are changes',
      dependsOn: ['plan'],
    }),
    markdown: Flags.boolean({
      description: 'With --plan: print Markdown, for a comment on a pull request; with --json, as "markdown"',
      dependsOn: ['plan'],
    }),
    url: Flags.string({
      description: 'URL of a server to deploy to, instead of WAYPOST_SYSTEM_URL',
      env: 'WAYPOST_URL',
    }),
    from: Flags.string({
      description:
        'URL of a server whose active release is copied, instead of building the project. Credentials: WAYPOST_FROM_CLIENT_ID and WAYPOST_FROM_CLIENT_SECRET',
    }),
    yes: Flags.boolean({
      char: 'y',
      description:
        'Do not ask for confirmation, even for warnings about access or breaking changes (unless these are forbidden)',
    }),
    'allow-breaking': Flags.boolean({
      description: 'Deploy breaking changes even with breaking_changes: forbid',
      env: 'WAYPOST_ALLOW_BREAKING',
    }),
    'allow-missing': Flags.boolean({
      description: 'Deploy even if variables are missing on servers; set them afterwards',
      env: 'WAYPOST_ALLOW_MISSING',
    }),
    'overwrite-backend': Flags.boolean({
      description: 'Deploy even if this undoes changes that were made in the backend',
    }),
    message: Flags.string({ char: 'm', description: 'Message for the list of releases', env: 'WAYPOST_MESSAGE' }),
    commit: Flags.string({
      description: 'Git commit of the project; default: from the pipeline, or else from Git',
      env: 'WAYPOST_COMMIT',
    }),
    against: againstFlag,
    migrate: Flags.boolean({ description: 'Run pending migrations before the deployment', env: 'WAYPOST_MIGRATE' }),
    wait: waitFlag,
  }

  async run(): Promise<unknown> {
    const { flags } = await this.parse(Deploy)
    const folder = process.cwd()
    const options: PlanOptions = {
      folder,
      variables: readEnvironment(folder),
      url: flags.url,
      from: flags.from,
      against: flags.against,
      commit: flags.commit,
      onUnknownCommit: (reason) => this.note(`  Commit     not recorded: ${reason}. Set WAYPOST_COMMIT to record it.`),
      onDiagnostics: (diagnostics) => printDiagnostics(diagnostics, process.stderr),
    }
    if (flags.plan) return this.#plan(options)
    const { deployProject } = await import('../src/project/index.ts')
    const deployment = await deployProject({
      ...options,
      by: nameOfUser(),
      message: flags.message,
      migrate: flags.migrate,
      isConfirmed: flags.yes,
      allowBreaking: flags['allow-breaking'],
      allowMissing: flags['allow-missing'],
      overwriteBackend: flags['overwrite-backend'],
      waitMs: flags.wait,
      waitSignal: () => this.stopSignal(),
      migrateSignal: () => this.abandonSignal(),
      onTarget: (target) => this.note(formatTarget(target)),
      onPlan: (plan) => this.#showPlan(plan, flags),
      ...(this.isInteractive()
        ? { confirm: async (_plan: DeployPlan, judgement: Judgement) => confirm(describeQuestion(judgement)) }
        : {}),
      onUploaded: ({ artifacts, of, bytes }) =>
        this.print(`  Uploaded   ${artifacts} of ${of} artifacts and files, ${Math.ceil(bytes / 1024)} KB`),
      onMigrationsLocked: () => this.note('  Waiting    another process is migrating this target'),
      onMigrated: ({ connection, name, ms }) => this.print(`  Migrated   ${connection}/${name}   ${ms.toFixed(0)} ms`),
      onActivated: (activation) => this.print(describeActivation(activation)),
    })
    if (deployment === undefined) {
      this.note('  Nothing was changed on the target.')
      process.exitCode = 1
      return { activated: false }
    }
    this.#showServers(deployment, flags.wait)
    const { activated, recorded, migrated, servers } = deployment
    return { ...planJson(deployment), activated, recorded, migrated, servers }
  }

  async #plan(options: PlanOptions): Promise<unknown> {
    const { flags } = await this.parse(Deploy)
    const { planDeployment } = await import('../src/project/index.ts')
    const plan = await planDeployment(options)
    if (flags['detailed-exitcode'] && !isNothing(plan)) process.exitCode = exitChanges
    const markdown = flags.markdown ? formatPlanMarkdown(plan, flags.migrate) : undefined
    if (markdown !== undefined && !this.jsonEnabled()) process.stdout.write(markdown)
    else if (isNothing(plan)) this.print(`${formatTarget(plan.target)}\n  ${describeNothing(plan)}`)
    else {
      this.print(formatTarget(plan.target))
      this.#showPlan(plan, flags, true)
      for (const line of describePlanEnd(plan, flags)) this.print(line)
    }
    return { ...planJson(plan), activated: false, ...(markdown !== undefined && { markdown }) }
  }

  #showPlan(
    plan: DeployPlan,
    { migrate: migrates, from }: { readonly migrate: boolean; readonly from?: string | undefined },
    isResult = false,
  ): void {
    const stream = isResult ? process.stdout : process.stderr
    const write = (line: string) => (isResult ? this.print(line) : this.note(line))
    write(`  Active     ${describeActive(plan, systemClock.now())}`)
    write(
      `  ${from === undefined ? 'Project' : 'Release'}    ${shortId(plan.id)}${from === undefined ? '' : `   the active release of ${from}`}\n`,
    )
    const lines = formatPlan({ ...plan, migrates }, stream)
    for (const line of lines) write(line)
    if (plan.builtByDev === true)
      write(`  ${wrap('The active release was built by waypost dev, so changes of code are not listed.', 2)}`)
    if (plan.builtByDev === true || lines.length > 0) write('')
  }

  #showServers({ id, active, servers, target, missingVariables: missing }: Deployment, waitMs: number): void {
    const before = active?.id === id ? undefined : active?.id
    const served = { release: id, before, servers, waitMs, missing, targetFlags: target.flags }
    for (const line of formatServing(served)) this.print(line)
    if (servers.some(({ state }) => state === 'failed' || (state === 'late' && waitMs > 0))) process.exitCode ??= 1
  }
}

function describeQuestion({ objections }: Judgement): string {
  const questions = {
    breakingChanges: 'This breaks callers.',
    accessWarnings: 'More people can read or change data, as the warnings say.',
  }
  const said = Object.entries(questions).flatMap(([rule, text]) =>
    objections.some((one) => one.rule === rule) ? [text] : [],
  )
  return `  ${said.join(' ')} Deploy anyway?`
}

function describeActivation({ id, activated, recorded }: Pick<Deployment, 'id' | 'activated' | 'recorded'>): string {
  if (activated) return `  Activated  ${shortId(id)}`
  if (recorded) return `  Recorded   the definition files of ${shortId(id)}, which is already active`
  return `  ${shortId(id)} is already active. Nothing to do.`
}

function formatTarget(target: TargetFacts): string {
  return `  Target     ${target.address}   ${describeServers(target)}`
}
