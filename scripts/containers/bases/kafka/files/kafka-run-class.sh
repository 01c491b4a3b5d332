#!/usr/bin/env bash
# The options of the official distribution's script that matter to memory and time.
exec java ${KAFKA_HEAP_OPTS:--Xmx256M} -server -XX:+UseG1GC -XX:MaxGCPauseMillis=20 -XX:InitiatingHeapOccupancyPercent=35 \
  -XX:+ExplicitGCInvokesConcurrent -Djava.awt.headless=true ${KAFKA_OPTS:-} \
  -Dlog4j2.configurationFile=/etc/kafka/docker/printing.properties -cp '/opt/kafka/libs/*' "$@"
