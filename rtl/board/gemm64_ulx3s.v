// SPDX-License-Identifier: Apache-2.0
// The board's pins: a ULX3S with an ECP5-85F, its oscillator of 25 MHz, its serial line by USB, a button and LEDs.
// Latency: see gemm64_board.
// Handshake: a serial line of 1 Mbaud.
`default_nettype none

module gemm64_ulx3s #(
    parameter N                = 4,   // see gemm64_board
    parameter STAGE_ROWS       = 2,
    parameter SCRATCHPAD_WORDS = 1023,
    parameter LOG_MEMORY_BYTES = 17,
    parameter MHZ              = 40,  // of the accelerator's clock: 25 * MULTIPLIER / DIVIDER
    parameter MULTIPLIER       = 8,
    parameter DIVIDER          = 5,
    parameter VCO_DIVIDER      = 15   // MHZ * VCO_DIVIDER is from 400 to 800
) (
    input  wire       clk_25mhz,
    input  wire       button,      // FIRE 1: reset
    input  wire       ftdi_txd,    // from the host
    output wire       ftdi_rxd,    // to the host
    output wire [7:0] led,
    output wire       wifi_gpio0   // low would start the board's other processor
);

    wire clk, locked;

    (* FREQUENCY_PIN_CLKI = "25", ICP_CURRENT = "12", LPF_RESISTOR = "8", MFG_ENABLE_FILTEROPAMP = "1", MFG_GMCREF_SEL = "2" *)
    EHXPLLL #(
        .PLLRST_ENA("DISABLED"), .INTFB_WAKE("DISABLED"), .STDBY_ENABLE("DISABLED"), .DPHASE_SOURCE("DISABLED"),
        .OUTDIVIDER_MUXA("DIVA"), .OUTDIVIDER_MUXB("DIVB"), .OUTDIVIDER_MUXC("DIVC"), .OUTDIVIDER_MUXD("DIVD"),
        .CLKI_DIV(DIVIDER), .CLKFB_DIV(MULTIPLIER), .FEEDBK_PATH("CLKOP"), .CLKOP_ENABLE("ENABLED"),
        .CLKOP_DIV(VCO_DIVIDER), .CLKOP_CPHASE(VCO_DIVIDER / 2 - 1), .CLKOP_FPHASE(0)
    ) u_pll (
        .RST (1'b0), .STDBY (1'b0), .CLKI (clk_25mhz), .CLKOP (clk), .CLKFB (clk), .CLKINTFB (),
        .PHASESEL0 (1'b0), .PHASESEL1 (1'b0), .PHASEDIR (1'b1), .PHASESTEP (1'b1), .PHASELOADREG (1'b1),
        .PLLWAKESYNC (1'b0), .ENCLKOP (1'b0), .LOCK (locked)
    );

    reg [1:0] reset_q;
    always @(posedge clk) reset_q <= {reset_q[0], locked & ~button};

    wire irq;
    assign led        = {ftdi_txd, ftdi_rxd, 4'd0, irq, reset_q[1]};
    assign wifi_gpio0 = 1'b1;

    gemm64_board #(
        .N(N), .STAGE_ROWS(STAGE_ROWS), .SCRATCHPAD_WORDS(SCRATCHPAD_WORDS), .LOG_MEMORY_BYTES(LOG_MEMORY_BYTES), .DIVISOR(MHZ)
    ) u_board (
        .clk_i (clk), .rst_ni (reset_q[1]), .rx_i (ftdi_txd), .tx_o (ftdi_rxd), .irq_o (irq)
    );

endmodule

`default_nettype wire
