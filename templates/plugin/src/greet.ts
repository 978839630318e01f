import type { ActionClass, ActionPlan } from 'waypost'

interface Config {
  readonly greeting: string
}

interface Plan extends ActionPlan {
  readonly parameter: string
}

/** Greets the person that the last path parameter names: `/greet/:name`. */
export const greet: ActionClass<Config> = {
  description: 'Greets the person in the path',
  config: {
    type: 'object',
    properties: { greeting: { type: 'string', default: 'Hello', description: 'The first word' } },
    additionalProperties: false,
  },
  describe(_config, { path }) {
    const parameter = /:(\w+)$/.exec(path)?.[1]
    if (parameter === undefined)
      return {
        problems: [{ at: '', message: `The path ${path} must end with a parameter`, hint: `Use ${path}/:name` }],
      }
    return {
      responses: { 200: { type: 'object', required: ['text'], properties: { text: { type: 'string' } } } },
      plan: { format: 1, parameter },
    }
  },
  make({ config, plan }) {
    if (plan?.format !== 1) throw new Error('the release was built with another version of this plugin')
    const { parameter } = plan as Plan
    return {
      handle: ({ params }) => ({ text: `${config.greeting}, ${(params as Record<string, string>)[parameter]}` }),
    }
  },
}
