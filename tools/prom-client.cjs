// What of prom-client the components use. Its index loads push gateways, quantiles and Node's cluster as well, in every
// process that starts.
'use strict';
exports.Registry = require('prom-client/lib/registry');
exports.Counter = require('prom-client/lib/counter');
exports.Gauge = require('prom-client/lib/gauge');
exports.Histogram = require('prom-client/lib/histogram');
