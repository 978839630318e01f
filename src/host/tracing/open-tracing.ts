import { exportVariables, variable, type Variables } from '../../kit/index.ts'
import { errors } from '../errors.ts'
import type { ServerTracing } from './make-tracing.ts'

export interface OpenedTracing extends ServerTracing {
  /** Sends the remaining spans and stops. */
  close(): Promise<void>
}

/** Variables that set where spans are sent. Other variables of OpenTelemetry do not enable it. */
const destinations = ['OTEL_TRACES_EXPORTER', 'OTEL_EXPORTER_OTLP_ENDPOINT', 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT']

/**
 * Starts OpenTelemetry if its standard variables enable it. Otherwise loads none of its packages.
 * @throws WP_SERVER_TRACING_PACKAGES
 */
export async function openTracing(variables: Variables): Promise<OpenedTracing | undefined> {
  if (!isEnabled(variables)) return undefined
  exportVariables(variables, 'OTEL_') // the SDK reads process.env, which does not include .env
  const [api, { NodeSDK }, { makeTracing }] = await loadPackages()
  const isNamed = [variable(variables, 'OTEL_SERVICE_NAME'), variable(variables, 'OTEL_RESOURCE_ATTRIBUTES')].some(
    (text, index) => text !== undefined && (index === 0 || text.includes('service.name=')),
  )
  const sdk = new NodeSDK({
    ...(isNamed ? {} : { serviceName: 'waypost' }),
    metricReaders: [], // /metrics provides them
    logRecordProcessors: [],
  })
  sdk.start()
  return { ...makeTracing(api), close: () => sdk.shutdown().catch(() => undefined) }
}

function isEnabled(variables: Variables): boolean {
  if (variable(variables, 'OTEL_SDK_DISABLED')?.toLowerCase() === 'true') return false
  if (variable(variables, 'OTEL_TRACES_EXPORTER') === 'none') return false
  return destinations.some((name) => variable(variables, name) !== undefined)
}

async function loadPackages() {
  try {
    return await Promise.all([
      import('@opentelemetry/api'),
      import('@opentelemetry/sdk-node'),
      import('./make-tracing.ts'),
    ])
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw cause
    throw errors.WP_SERVER_TRACING_PACKAGES({}, { cause })
  }
}
