export interface ActionText {
  readonly className: string
  /** `POST /order` */
  readonly route: string
  /** What of the request the method describes. */
  readonly inputs: Readonly<Record<'params' | 'query' | 'body', boolean>>
  readonly isTypeScript: boolean
}

/** The text of a class that says that it has no code yet: callers get 501 and not an answer that somebody could believe. */
export function writeAction({ className, route, inputs, isTypeScript }: ActionText): string {
  const taken = (['params', 'query', 'body'] as const).filter((input) => inputs[input])
  const request = taken.length === 0 ? '_request' : `{ ${taken.join(', ')} }`
  const words = route.replaceAll("'", "\\'")
  const name = `'${words}'`
  const types = isTypeScript
    ? {
        implements: ` implements Action<${name}>`,
        request: `: Request<${name}>`,
        context: ': Context',
        result: ': Promise<never>',
      }
    : { implements: '', request: '', context: '', result: '' }
  const lines = [
    ...(isTypeScript ? ["import type { Action, Context, Request } from 'waypost'", ''] : []),
    `export default class ${className}${types.implements} {`,
    `  async handle(${request}${types.request}, context${types.context})${types.result} {`,
    `    throw context.problem(501, '${words} is not implemented yet')`,
    '  }',
    '}',
    '',
  ]
  return lines.join('\n')
}
