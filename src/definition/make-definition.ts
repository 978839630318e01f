import type { Variables } from '../kit/index.ts'
import { checkConfig } from './check-config.ts'
import { checkOpenEvents } from './check-open-events.ts'
import { checkRequestArrays } from './check-request-arrays.ts'
import { checkStructure } from './check-structure.ts'
import { checkUnused } from './check-unused.ts'
import { checkVariables } from './check-variables.ts'
import type { DefinitionCode } from './errors.ts'
import type { Definition } from './definition.ts'
import { language } from './language.ts'
import type { Loading } from './loading.ts'
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
import type { Making } from './making.ts'
import { describeNode, isEmpty, valueOf, type Node } from './node.ts'
import { resolveSchemas } from './resolve-references.ts'
import { makeSchemas } from './schemas.ts'
import { makeSection, type Section } from './section.ts'

/** Checks the composed waypost.yml and makes what it says; where something was reported, as much as can be made. */
export function makeDefinition(loading: Loading, root: Node, variables?: Variables): Made {
  checkRoot(loading, root)
  const making = makeMaking(loading, root)
  const section = (key: string): Node | undefined => valueOf(root, key)

  describeScopes(making, section('scope'))
  checkActions(making, section('action'))
  const rates = makeRates(making, section('rate'))
  const connections = makeConnections(making, section('connection'))
  const events = makeEvents(making, section('event'))
  const routes = makeRoutes(making, section('routes'))
  const cronjobs = makeCronjobs(making, section('cronjob'), variables)
  declareVariables(making, section('env'))
  const plugins = makePlugins(making, section('plugins'))
  const { written: config, defaultScopes } = checkConfig(making, section('config'), variables)

  const resolved = resolveSchemas(making.schemas)
  for (const check of making.afterSchemas) check(resolved)
  const used = checkVariables(making, variables)
  checkOpenEvents(making, root, { resolved, defaultScopes })
  checkUnused(making, root, resolved)
  checkRequestArrays(making, resolved)

  const scopes = Object.fromEntries(making.scopes)
  const named = { schemas: resolved.named, connections, events, scopes, cronjobs, rates }
  return { making, definition: { routes, ...named, config, plugins, variables: used } }
}

function checkRoot({ report }: Loading, root: Node): void {
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

export interface Made {
  readonly making: Making
  readonly definition: Definition
}

function makeMaking(loading: Loading, root: Node): Making {
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
    },
    scopes: new Map(),
    classUses: [],
    requests: [],
    variablePlaces: [],
    declared: new Map(),
    afterSchemas: [],
    actionFiles: new Map(),
  }
}
