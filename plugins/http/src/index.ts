import { definePlugin } from 'waypost'
import { dispatch } from './dispatch.ts'
import { http } from './http.ts'
import { proxy } from './proxy.ts'
import { respond } from './respond.ts'

export default definePlugin({
  name: 'http',
  requires: '^1.0.0',
  connections: { http },
  actions: { respond, dispatch, proxy },
})
