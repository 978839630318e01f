export interface ActionText {
  readonly className: string
  /** `POST /order`, `listener:bill`, or `cronjob`; for a step, the first method that runs it. */
  readonly key: string
  /** `POST /order`, `listener bill`, `cronjob tidy`, or `step tenant`. */
  readonly name: string
  readonly isStep?: boolean
  /** The parts of the request that the method describes. */
  readonly inputs: Readonly<Partial<Record<'params' | 'query' | 'body', boolean>>>
  readonly isTypeScript: boolean
}

/** Returns the text of a class without code. Callers get 501 instead of a plausible response. */
export function writeAction({ className, key, name, isStep = false, inputs, isTypeScript }: ActionText): string {
  const used = (['params', 'query', 'body'] as const).filter((input) => inputs[input])
  const request = used.length === 0 ? '_request' : `{ ${used.join(', ')} }`
  const quoted = quote(key)
  const words = quote(`${name} is not implemented yet`)
  const hasCaller = key !== 'cronjob' && !key.startsWith('listener:')
  const types = isTypeScript
    ? {
        names: isStep ? 'Context, Request, RouteStep' : 'Action, Context, Request',
        implements: isStep ? ' implements RouteStep' : ` implements Action<${quoted}>`,
        request: `: Request<${quoted}>`,
        context: ': Context',
        result: ': Promise<never>',
      }
    : { names: '', implements: '', request: '', context: '', result: '' }
  const lines = [
    ...(isTypeScript ? [`import type { ${types.names} } from 'waypost'`, ''] : []),
    `export default class ${className}${types.implements} {`,
    `  async handle(${request}${types.request}, ${hasCaller ? 'context' : '_context'}${types.context})${types.result} {`,
    hasCaller ? `    throw context.problem(501, ${words})` : `    throw new Error(${words})`,
    '  }',
    '}',
    '',
  ]
  return lines.join('\n')
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "\\'")}'`
}
