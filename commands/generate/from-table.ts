import { Args, Flags, WaypostCommand, listFlag, printDiagnostics, wrap } from '../../bin/cli/index.ts'
import { joinWords } from '../../src/kit/index.ts'
import type { GeneratedTable } from '../../src/project/index.ts'

const methodNames = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const
type Method = (typeof methodNames)[number]
const methodsFlag = Flags.option({ options: methodNames, multiple: true, delimiter: ',' })

export default class GenerateFromTable extends WaypostCommand {
  static override description =
    'Turn a table into an API\nAdds an action of the class sql-table and its routes to waypost.yml: list, create, read, replace, change and delete rows.'
  static override examples = [
    '<%= config.bin %> <%= command.id %> System app_order',
    '<%= config.bin %> <%= command.id %> System app_order --scopes order --owner user_id',
    '<%= config.bin %> <%= command.id %> System app_todo --public GET --soft-delete status --event todo_created',
    '<%= config.bin %> <%= command.id %> Shop product --dry-run',
  ]
  static override enableJsonFlag = true
  static override args = {
    connection: Args.string({ description: 'Connection with the table, for example System', required: true }),
    table: Args.string({ description: 'Table or view', required: true }),
  }
  static override flags = {
    scopes: listFlag({
      description: 'Scopes, separated by commas; a token needs one of them. By default, the name of the table',
    }),
    path: Flags.string({ description: 'Path of the list, for example /shop/order. By default, named after the table' }),
    methods: methodsFlag({ description: 'Only these methods, separated by commas, for example GET,POST' }),
    public: methodsFlag({ description: 'Methods that need no token, separated by commas, for example GET' }),
    'soft-delete': Flags.string({
      description: 'Column that DELETE changes instead of removing the row, for example status (1 becomes 0)',
    }),
    event: Flags.string({ description: 'Event to add and to dispatch with POST' }),
    owner: Flags.string({
      description:
        'Column with the id of the owner, or that refers to a row with an owner; other users cannot see the row',
    }),
    'dry-run': Flags.boolean({ description: 'Show what would be written without writing anything' }),
  }

  async run(): Promise<unknown> {
    const { args, flags } = await this.parse(GenerateFromTable)
    const { generateTable } = await import('../../src/project/index.ts')
    const dryRun = flags['dry-run']
    const generated = await generateTable({
      folder: process.cwd(),
      connection: args.connection,
      table: args.table,
      scopes: flags.scopes,
      owner: flags.owner,
      path: flags.path,
      methods: readMethods(flags.methods, flags.public),
      softDelete: flags['soft-delete'] === undefined ? undefined : { column: flags['soft-delete'] },
      event: flags.event === undefined ? undefined : { name: flags.event },
      dryRun,
      onDiagnostics: (diagnostics) => printDiagnostics(diagnostics, process.stderr),
    })
    this.#show(generated, { isDryRun: dryRun, open: flags.public })
    return { ...generated, written: !dryRun }
  }

  /** @param open the methods that need no token */
  #show(
    generated: GeneratedTable,
    { isDryRun, open = [] }: { readonly isDryRun: boolean; readonly open: readonly Method[] | undefined },
  ): void {
    const { methods, scopes, created, added, servedAt } = generated
    const [wrote, addedLabel] = isDryRun ? ['  Would write  ', '  Would add    '] : ['  Wrote  ', '  Added  ']
    if (created.length > 0) this.print(wrote + wrap(created.join(', '), wrote.length))
    for (const { name, file, line } of added) this.print(`${addedLabel}${name} to ${file}:${line}`)
    if (isDryRun) return
    const guarded = methods.filter((one) => !open.some((method) => one.startsWith(`${method} `)))
    if (guarded.length > 0)
      this.print(
        `  ${wrap(`${joinWords(guarded)} ${guarded.length === 1 ? 'needs' : 'need'} a token${describeScopes(scopes)}.`, 2)}`,
      )
    if (servedAt !== undefined) this.print(`  dev already serves it: ${servedAt}`)
  }
}

function readMethods(chosen: readonly Method[] | undefined, open: readonly Method[] = []) {
  if (chosen === undefined && open.length === 0) return undefined
  return (chosen ?? methodNames).map((method) => ({
    method,
    access: open.includes(method) ? ('public' as const) : undefined,
  }))
}

function describeScopes(scopes: readonly string[]): string {
  if (scopes.length === 0) return ''
  return ` with the scope ${scopes.join(' or ')}`
}
