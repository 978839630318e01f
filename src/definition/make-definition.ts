import type { Variables } from '../kit/index.ts'
import { checkConfig } from './check-config.ts'
import { checkContradictions } from './check-contradictions.ts'
import { checkRequestAlternatives } from './check-request-alternatives.ts'
import { checkRequestArrays } from './check-request-arrays.ts'
import { checkStructure } from './check-structure.ts'
import { checkVariables } from './check-variables.ts'
import type { DefinitionCode } from './errors.ts'
import type { Definition } from './definition.ts'
import { language } from './language.ts'
import type { LoadContext } from './load-context.ts'
import { makeRoutes } from './make-routes.ts'
import {
  checkActions,
  declareVariables,
  describeScopes,
  makeConnections,
  makeCronjobs,
  makeEvents,
  makePlugins,
  makeRates,
} from './make-sections.ts'
import type { DefinitionContext } from './definition-context.ts'
import { describeNode, isEmpty, valueOf, type Node } from './node.ts'
import { resolveSchemas, type ResolvedSchemas } from './resolve-references.ts'
import { checkUploads } from './read-body-limits.ts'
import { makeListeners } from './make-listeners.ts'
import { makeSchemas } from './schemas.ts'
import { makeStatic } from './make-static.ts'
import { makeSection, type Section } from './section.ts'

/** Checks the composed waypost.yml and converts it to a definition. After errors the definition is incomplete. */
export function makeDefinition(loading: LoadContext, root: Node, variables?: Variables): DefinitionResult {
  checkRoot(loading, root)
  const context = makeContext(loading, root)
  const section = (key: string): Node | undefined => valueOf(root, key)

  declareVariables(context, section('env'))
  describeScopes(context, section('scope'))
  checkActions(context, section('action'))
  const rates = makeRates(context, section('rate'))
  const connections = makeConnections(context, section('connection'))
  const events = makeEvents(context, section('event'))
  const { routes, groups } = makeRoutes(context, section('routes'))
  const folders = makeStatic(context, section('static'))
  const listeners = makeListeners(context, section('listener'))
  const cronjobs = makeCronjobs(context, section('cronjob'), variables)
  const plugins = makePlugins(context, section('plugins'))
  const { written: config, defaultScopes, bodyLimit } = checkConfig(context, section('config'), variables)
  checkUploads(context, bodyLimit)

  const resolved = resolveSchemas(context.schemas)
  checkContradictions(context.schemas, resolved)
  for (const check of context.afterSchemas) check(resolved)
  const used = checkVariables(context, variables)
  checkRequestArrays(context, resolved)
  checkRequestAlternatives(context, resolved)

  const scopes = Object.fromEntries(context.scopes)
  const named = { schemas: resolved.named, connections, events, scopes, listeners, cronjobs, rates }
  return {
    context,
    resolved,
    defaultScopes,
    definition: {
      routes,
      ...(Object.keys(groups).length > 0 && { groups }),
      ...(Object.keys(folders).length > 0 && { static: folders }),
      ...named,
      config,
      plugins,
      variables: used,
    },
  }
}

function checkRoot({ report }: LoadContext, root: Node): void {
  if (isEmpty(root)) {
    report.add({ code: 'WP_DEFINITION_EMPTY', at: root })
    return
  }
  const at = { ...root, end: root.start }
  if (root.kind === 'map') {
    checkStructure(root, language, { label: { name: 'waypost.yml', at }, checking: { report } })
  } else if (root.kind !== 'broken') {
    const problem = `waypost.yml must be a map, not ${describeNode(root)}`
    report.add({ code: 'WP_DEFINITION_VALUE_INVALID', at: root, parameters: { problem }, hint: 'Begin with "routes:"' })
  }
}

export interface DefinitionResult {
  readonly context: DefinitionContext
  readonly resolved: ResolvedSchemas
  readonly definition: Definition
  /** The scopes of each new user; undefined if they depend on unset variables. */
  readonly defaultScopes: readonly string[] | undefined
}

function makeContext(loading: LoadContext, root: Node): DefinitionContext {
  const section = (key: string, code: DefinitionCode): Section =>
    makeSection(root, key, { code, report: loading.report })
  return {
    loading,
    schemas: makeSchemas(loading, section('schema', 'WP_DEFINITION_SCHEMA_UNKNOWN')),
    sections: {
      event: section('event', 'WP_DEFINITION_EVENT_UNKNOWN'),
      rate: section('rate', 'WP_DEFINITION_RATE_UNKNOWN'),
      action: section('action', 'WP_DEFINITION_ACTION_UNKNOWN'),
      scope: section('scope', 'WP_DEFINITION_SCOPE_UNDECLARED'),
      connection: section('connection', 'WP_DEFINITION_CONNECTION_UNKNOWN'),
    },
    scopes: new Map(),
    classUses: [],
    actionNodes: new Map(),
    codeClasses: [],
    plainPaths: new Set(),
    schemasInConfigs: new Set(),
    dispatches: new Map(),
    operationIds: new Map(),
    requests: [],
    uploads: [],
    variablePlaces: [],
    declared: new Map(),
    afterSchemas: [],
    actionFiles: new Map(),
  }
}
