import { Args, Flags, WaypostCommand, listFlag, printDiagnostics, wrap } from '../../bin/cli/index.ts'
import type { GeneratedRoute } from '../../src/project/index.ts'

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const

export default class GenerateRoute extends WaypostCommand {
  static override description =
    'Write a method of a route: its YAML, its schemas, its class, and the line in waypost.yml. All of it or nothing.'
  static override examples = [
    '<%= config.bin %> <%= command.id %> POST /order --scopes order',
    '<%= config.bin %> <%= command.id %> GET /order/:order_id --public',
    '<%= config.bin %> <%= command.id %> DELETE /order/:order_id --dry-run',
  ]
  static override enableJsonFlag = true
  static override args = {
    method: Args.string({ description: 'GET, POST, PUT, PATCH or DELETE', required: true }),
    path: Args.string({ description: 'Path; parameters begin with a colon: /order/:order_id', required: true }),
  }
  static override flags = {
    scopes: listFlag({ description: 'A token needs one of these, separated by commas; "" for any valid token' }),
    public: Flags.boolean({ description: 'Answer without a token' }),
    'dry-run': Flags.boolean({ description: 'Say what would be written, and write nothing' }),
  }

  async run(): Promise<unknown> {
    const { args, flags } = await this.parse(GenerateRoute)
    const method = methods.find((one) => one === args.method.toUpperCase())
    if (method === undefined) throw this.wrongUsage(`"${args.method}" is no method: it is one of ${methods.join(', ')}`)
    if (flags.public && (flags.scopes ?? []).length > 0)
      throw this.wrongUsage('--public and --scopes exclude each other: a public method needs no token')
    const { generateRoute } = await import('../../src/project/index.ts')
    const isDryRun = flags['dry-run']
    const generated = await generateRoute({
      folder: process.cwd(),
      method,
      path: args.path,
      scopes: flags.scopes,
      public: flags.public,
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
    const [wrote, put] = isDryRun ? ['  Would write  ', '  Would add    '] : ['  Wrote  ', '  Added  ']
    this.print(wrote + wrap([...files, ...describeSchemas(schemas)].join(', '), wrote.length))
    for (const { name, file, line } of others) this.print(`${put}${name} to ${file}:${line}`)
    if (servedAt !== undefined) this.print(`  dev serves it already: ${route.split(' ')[0]} ${servedAt}`)
    if (!isDryRun) this.print(`  ${wrap(`${route} answers 501 until ${action} has code.`, 2)}`)
  }
}

function describeSchemas(schemas: GeneratedRoute['added']): string[] {
  if (schemas.length === 0) return []
  const names = schemas.map(({ name }) => name.replace('schema ', ''))
  const last = names.pop()
  const listed = names.length === 0 ? `schema ${last}` : `schemas ${names.join(', ')} and ${last}`
  return [`${listed} in ${schemas[0]!.file}`]
}
