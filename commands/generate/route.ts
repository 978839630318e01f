import { Args, Flags, WaypostCommand, listFlag, printDiagnostics, wrap } from '../../bin/cli/index.ts'
import type { GeneratedRoute } from '../../src/project/index.ts'

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const

export default class GenerateRoute extends WaypostCommand {
  static override description =
    'Generate a method of a route\nWrites the YAML, the schemas and the action class, and adds the method to waypost.yml.'
  static override examples = [
    '<%= config.bin %> <%= command.id %> POST /order --scopes order',
    '<%= config.bin %> <%= command.id %> GET /order/:order_id --public',
    '<%= config.bin %> <%= command.id %> DELETE /order/:order_id --dry-run',
    '<%= config.bin %> <%= command.id %> POST /order/:order_id/invoice --request multipart/form-data',
    '<%= config.bin %> <%= command.id %> GET /order --response application/json,text/csv,text/event-stream',
  ]
  static override enableJsonFlag = true
  static override args = {
    method: Args.string({ description: 'GET, POST, PUT, PATCH or DELETE', required: true }),
    path: Args.string({
      description: 'Path; parameters begin with a colon, for example /order/:order_id',
      required: true,
    }),
  }
  static override flags = {
    scopes: listFlag({
      description: 'Scopes, separated by commas; a token needs one of them. "" allows any valid token',
    }),
    public: Flags.boolean({ description: 'Allow calls without a token' }),
    request: listFlag({ description: 'Media types of the body, separated by commas; default: application/json' }),
    response: listFlag({ description: 'Media types of the response, separated by commas; default: application/json' }),
    'dry-run': Flags.boolean({ description: 'Show what would be written without writing anything' }),
  }

  async run(): Promise<unknown> {
    const { args, flags } = await this.parse(GenerateRoute)
    const method = methods.find((one) => one === args.method.toUpperCase())
    if (method === undefined)
      throw this.usageError(`"${args.method}" is not a valid method. Use one of ${methods.join(', ')}`)
    if (flags.public && (flags.scopes ?? []).length > 0)
      throw this.usageError('--public and --scopes cannot be combined: a public method needs no token')
    const { generateRoute } = await import('../../src/project/index.ts')
    const isDryRun = flags['dry-run']
    const generated = await generateRoute({
      folder: process.cwd(),
      method,
      path: args.path,
      scopes: flags.scopes,
      public: flags.public,
      request: flags.request,
      response: flags.response,
      dryRun: isDryRun,
      onDiagnostics: (diagnostics) => printDiagnostics(diagnostics, process.stderr),
    })
    this.#show(generated, isDryRun)
    return { ...generated, written: !isDryRun }
  }

  #show({ route, action, created, added, servedAt }: GeneratedRoute, isDryRun: boolean): void {
    const schemas = added.filter(({ name }) => name.startsWith('schema '))
    const files = created.map(({ file }) => file).filter((file) => !schemas.some((schema) => schema.file === file))
    const others = added.filter((one) => !schemas.includes(one))
    const [wrote, addedLabel] = isDryRun ? ['  Would write  ', '  Would add    '] : ['  Wrote  ', '  Added  ']
    this.print(wrote + wrap([...files, ...describeSchemas(schemas)].join(', '), wrote.length))
    for (const { name, file, line } of others) this.print(`${addedLabel}${name} to ${file}:${line}`)
    if (servedAt !== undefined) this.print(`  dev already serves it: ${route.split(' ')[0]} ${servedAt}`)
    if (!isDryRun) this.print(`  ${wrap(`${route} returns 501 until you implement ${action}.`, 2)}`)
  }
}

function describeSchemas(schemas: GeneratedRoute['added']): string[] {
  if (schemas.length === 0) return []
  const names = schemas.map(({ name }) => name.replace('schema ', ''))
  const last = names.pop()
  const listed = names.length === 0 ? `schema ${last}` : `schemas ${names.join(', ')} and ${last}`
  return [`${listed} in ${schemas[0]!.file}`]
}
